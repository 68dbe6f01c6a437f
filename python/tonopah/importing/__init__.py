"""Files that others wrote, as parts of scenarios: `tonopah import KIND FILE`."""
