"""What the house rules of CONTRIBUTING.md say of the text of sources, as functions from text to findings."""
