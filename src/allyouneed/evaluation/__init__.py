"""How good translations are (section 6.1): BLEU and chrF by sacreBLEU, with signatures."""
