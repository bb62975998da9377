"""Labelled sets that retrieval is measured on."""
