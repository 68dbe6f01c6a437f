"""Tests of the lab; a package, so that its fixtures and those of all tests are different modules."""
