"""A translation service: requests of many clients, translated together, answered over HTTP."""
