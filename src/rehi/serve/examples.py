"""Examples: questions to begin with, and values of parameters that make sense."""

from __future__ import annotations

from typing import Any

PARAMETERS: dict[str, Any] = {
    "source_id": 1, "document_id": 1, "host_id": 1, "kind": "person", "slug": "katrin-paio", "digits": "20260301",
    "name": "www.example.ee", "url": "http://www.example.ee/", "query": "SELECT * WHERE { ?s ?p ?o } LIMIT 10",
    "keep": "last 5", "follow": "same host, depth 2", "source": "https://www.example.ee/urls.txt",
    "entity": "person/katrin-paio", "into": "person/kati-paio", "documents": [8127], "host": "www.example.ee",
    "type": "text/html", "language": "et", "since": "2026-03-01", "until": "2026-03-31", "from": "20260301", "to": "20260331",
}  # fmt: skip

EXAMPLES = (
    ("People, most mentioned first", """SELECT ?name (COUNT(?page) AS ?pages) WHERE {
  ?who a nerd:Person ; foaf:name ?name ; ner:mentionedAtSite ?page
}
GROUP BY ?name ORDER BY DESC(?pages) ?name LIMIT 50"""),
    ("Where a place is mentioned", """SELECT DISTINCT * WHERE {
  { ?obj ner:locationName "Võru" } UNION { ?obj ner:lemma "Võru" } .
  ?obj ner:mentionedAtSite ?webpage
} ORDER BY ?webpage"""),
    ("All organisations and their pages", """SELECT DISTINCT * WHERE {
  ?obj ner:orgName ?name .
  ?obj ner:mentionedAtSite ?webpage
} ORDER BY ?name ?webpage LIMIT 200"""),
    ("Names that stand together most often", """SELECT ?one ?other (COUNT(?page) AS ?pages) WHERE {
  ?a foaf:name ?one ; ner:mentionedAtSite ?page .
  ?b foaf:name ?other ; ner:mentionedAtSite ?page .
  FILTER(STR(?a) < STR(?b))
}
GROUP BY ?one ?other ORDER BY DESC(?pages) LIMIT 20"""),
    ("Documents by language and type", """SELECT ?language ?type (COUNT(?page) AS ?pages) WHERE {
  ?page a foaf:Document ; dcterms:language ?language ; dcat:mediaType ?type
}
GROUP BY ?language ?type ORDER BY DESC(?pages)"""),
    ("Pages that have changed", """SELECT ?page (COUNT(?version) AS ?versions) WHERE {
  ?page dcterms:hasVersion ?version
}
GROUP BY ?page HAVING (COUNT(?version) > 1) ORDER BY DESC(?versions)"""),
)  # fmt: skip
