"""The vocabulary: the namespaces of the graph, and their usual prefixes."""

from __future__ import annotations

from types import MappingProxyType

DCAT = "http://www.w3.org/ns/dcat#"
DCTERMS = "http://purl.org/dc/terms/"
DC = "http://purl.org/dc/elements/1.1/"
PROV = "http://www.w3.org/ns/prov#"
CSVW = "http://www.w3.org/ns/csvw#"
FOAF = "http://xmlns.com/foaf/0.1/"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
NERD = "http://nerd.eurecom.fr/ontology#"
NER = "http://www.estner.ee/estnerd#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
XSD = "http://www.w3.org/2001/XMLSchema#"
REHI = "urn:rehi:vocabulary#"  # the same in every installation, so that a query can be taken from one to another

PREFIXES = MappingProxyType(
    {
        "csvw": CSVW,
        "dc": DC,
        "dcat": DCAT,
        "dcterms": DCTERMS,
        "foaf": FOAF,
        "ner": NER,
        "nerd": NERD,
        "owl": OWL,
        "prov": PROV,
        "rdf": RDF,
        "rdfs": RDFS,
        "rehi": REHI,
        "skos": SKOS,
        "xsd": XSD,
    }
)
