"""Terms: words whose translation a user prescribes, from a glossary's file to what was used."""
