"""The engines that run a trained model, chosen by name."""
