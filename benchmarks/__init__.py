"""Our code against the nearest thing that others would use, side by side on one machine. `make bench`."""
