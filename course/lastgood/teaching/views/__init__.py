"""Pictures and explorers: what the lessons show, always computed, never drawn by hand."""
