"""The server of a bucket: what it must be able to do, and addresses and credentials that are wrong."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from rehi.engines.bucket import BucketShelf
from rehi.engines.bucket.store import Store, check_uri
from rehi.engines.folder import FolderShelf
from rehi.errors import (
    EngineError,
    SettingsError,
)
from rehi.testing.s3 import BUCKET, S3Server
from rehi.testing.waiting import PATIENCE
from tests.engines.limited_s3 import LimitedS3


def test_a_server_without_conditions_is_named_and_nothing_is_written_over(tmp_path: Path, s3: S3Server) -> None:
    with LimitedS3(conditions=False).running() as limited:
        store = Store("s3://kast/careful", endpoint=limited.endpoint)
        limited.objects["careful/a.bin"] = b"theirs"
        shelf = BucketShelf(store, tmp_path / "here")
        FolderShelf(tmp_path / "here").put("a.bin", [b"ours, and longer"])
        shelf.seal("a.bin")
        shelf.append("b.bin", [b"ours"])
        shelf.seal("b.bin")
        assert "without conditional put, conditional copy" in shelf.check()
        shelf.start_uploads()
        assert not shelf.wait(PATIENCE)
        shelf.close()
        assert [file for file, _ in shelf.upload_errors()] == ["a.bin"]
        assert limited.objects == {"careful/a.bin": b"theirs", "careful/b.bin": b"ours"}
        assert "careful/a.bin" not in limited.puts


def test_a_server_without_ranges_is_refused(tmp_path: Path, s3: S3Server) -> None:
    with LimitedS3(ranges=False).running() as limited:
        shelf = BucketShelf(Store("s3://kast/whole", endpoint=limited.endpoint), tmp_path / "here")
        with pytest.raises(EngineError, match="does not read ranges"):
            shelf.start_uploads()
        assert limited.objects == {}


def test_wrong_credentials_are_refused_and_never_shown(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-the-right-one")
    shelf = BucketShelf(Store(f"s3://{BUCKET}/{secrets.token_hex(6)}", endpoint=s3.endpoint), tmp_path)
    with pytest.raises(EngineError, match="refuses the credentials") as caught:
        shelf.start_uploads()
    assert "not-the-right-one" not in str(caught.value)
    assert os.environ["AWS_ACCESS_KEY_ID"] not in str(caught.value)


def test_a_bucket_that_is_not_there_is_said_not_to_be(s3: S3Server, tmp_path: Path) -> None:
    shelf = BucketShelf(Store("s3://no-such-bucket/x", endpoint=s3.endpoint), tmp_path)
    with pytest.raises(EngineError, match="there is no such bucket"):
        shelf.start_uploads()


@pytest.mark.parametrize(
    "uri",
    [
        "s3://", "s3:///x", "s3://key:secret@kast/x", "s3://kast/x?token=1", "s3://kast/../x", "s3://kast/.x", "s3://k/x",
        "s3://kast/a//b", "s3://kast/a b", "s3://kast:80/x", "s3://[kast/x", "kast",
    ],
)  # fmt: skip
def test_an_address_that_is_no_bucket_is_refused_without_repeating_it(uri: str) -> None:
    with pytest.raises(SettingsError, match=r"archive\.uri") as caught:
        check_uri(uri)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("uri", ["s3://kast", "s3://kast/", "s3://kast/a/b.c-d/", "gs://kast/a", "az://konto/kast/a"])
def test_an_address_of_a_bucket_is_taken(uri: str) -> None:
    assert check_uri(uri) == uri.rstrip("/")
