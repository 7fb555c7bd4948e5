"""Commands that have much to say, one module each; `cli` registers them."""
