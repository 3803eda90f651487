"""The table of pages: the addresses for people. What can be given to each is checked as for an operation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SitePage:
    """A row of the table; ``like`` is an operation that takes the same parameters, else they are the function's own."""

    address: str  # method and path
    function: str  # "module:function"; its first parameter is the request
    like: str = ""  # "module:function"
    reads_body: bool = False  # of a POST: the function takes the form apart by itself


PAGES: tuple[SitePage, ...] = (
    SitePage("GET /", "rehi.serve.pages:show_overview"),
    SitePage("POST /sources", "rehi.serve.uploads:upload_form", reads_body=True),
    SitePage("GET /sources/{source_id}", "rehi.serve.pages:show_source", like="rehi.operations.sources:get_source"),
    SitePage(
        "POST /sources/{source_id}/start", "rehi.serve.pages:start_source", like="rehi.operations.sources:get_source"
    ),
    SitePage(
        "POST /sources/{source_id}/policy", "rehi.serve.pages:set_policy", like="rehi.operations.revisit:set_policy"
    ),
    SitePage("POST /sources/{source_id}/keep", "rehi.serve.pages:set_keep", like="rehi.operations.retention:set_keep"),
    SitePage(
        "POST /sources/{source_id}/follow", "rehi.serve.pages:set_follow", like="rehi.operations.sources:set_follow"
    ),
    SitePage("GET /documents", "rehi.serve.pages:show_documents", like="rehi.operations.documents:list_documents"),
    SitePage(
        "GET /documents/{document_id}", "rehi.serve.pages:show_document", like="rehi.operations.documents:get_document"
    ),
    SitePage("GET /document", "rehi.serve.pages:find_document"),
    SitePage("GET /names", "rehi.serve.pages:show_names", like="rehi.operations.entities:find_entities"),
    SitePage("GET /entity/{kind}/{slug:path}", "rehi.serve.pages:show_entity"),
    SitePage("GET /problems", "rehi.serve.pages:show_problems", like="rehi.operations.problems:list_problems"),
    SitePage("GET /hosts", "rehi.serve.hosts:show_hosts", like="rehi.operations.hosts:list_hosts"),
    SitePage("GET /hosts/{name}", "rehi.serve.hosts:show_host", like="rehi.operations.hosts:get_host"),
    SitePage("POST /hosts/{name}/orders", "rehi.serve.hosts:order_form", reads_body=True),
    SitePage("GET /updates", "rehi.serve.updates:show_updates", like="rehi.operations.updates:list_updates"),
    SitePage("POST /updates", "rehi.serve.updates:update_form", reads_body=True),
    SitePage("GET /archive", "rehi.serve.archive:show_archive"),
    SitePage("GET /versions", "rehi.serve.versions:show_versions", like="rehi.operations.versions:list_versions"),
    SitePage("GET /text", "rehi.serve.pages:show_text", like="rehi.operations.readings:get_text"),
    SitePage("GET /workers", "rehi.serve.pages:show_workers", like="rehi.operations.workers:list_workers"),
    SitePage("GET /plugins", "rehi.serve.pages:show_plugins", like="rehi.operations.plugins:list_plugins"),
    SitePage("GET /diff", "rehi.serve.diff:show_diff"),
    SitePage("GET /diff/names", "rehi.serve.diff:show_names", like="rehi.operations.diff:get_name_diff"),
    SitePage("GET /login", "rehi.serve.pages:show_login"),
    SitePage("POST /login", "rehi.serve.pages:log_in"),
    SitePage("POST /logout", "rehi.serve.pages:log_out"),
    SitePage("GET /docs", "rehi.serve.docs_page:show_docs"),
)
