"""Questions to begin with."""

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
