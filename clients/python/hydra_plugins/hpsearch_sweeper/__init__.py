"""Hydra's sweeper of hpsearch: python app.py -m hydra/sweeper=hpsearch …"""
