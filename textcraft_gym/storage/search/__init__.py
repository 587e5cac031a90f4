"""A search engine: BM25 over analysed text, equal to Lucene's down to ties and rounding."""
