"""The search engine of the shop: BM25 over analysed text, equal to Lucene's defaults down to ties and rounding."""
