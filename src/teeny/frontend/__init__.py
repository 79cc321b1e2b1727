"""From Python source to the intermediate form: parsing, lowering, specialisation."""
