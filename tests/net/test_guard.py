"""This module checks the guard's judgement: of URLs, of addresses, and in verdicts."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.errors import EgressBlocked
from toolcrib.net.addresses import refusal
from toolcrib.net.guard import EgressPolicy, Guard, Verdict
from toolcrib.testing.resolvers import ScriptedResolver

PUBLIC = "93.184.216.34"

SCRIPT = {
    "ok.example.test": [[PUBLIC]],
    "both.example.test": [[PUBLIC, "2606:4700::1111"]],
    "rebind.example.test": [[PUBLIC], ["127.0.0.1"]],
    "mixed.example.test": [[PUBLIC, "10.0.0.5"]],
    "v6.example.test": [["::ffff:169.254.169.254"]],
    "nat64.example.test": [["64:ff9b::7f00:1"]],
    "zone.example.test": [["fe80::1%eth0"]],
    "empty.example.test": [[]],
    "odd.example.test": [["not an address"]],
    "intranet.example.test": [["10.0.0.5"]],
}


def guard(*allow: str) -> Guard:
    return Guard(EgressPolicy(allow), ScriptedResolver(SCRIPT))


async def addresses(url: str, *allow: str) -> tuple[str, ...]:
    judge = guard(*allow)
    place, _ = judge.policy.check_url(url)
    return await judge.addresses(place)


async def refused(url: str, *allow: str) -> str:
    with pytest.raises(EgressBlocked) as raised:
        await addresses(url, *allow)
    assert False is raised.value.sent
    return str(raised.value)


async def test_public_hosts_pass_with_all_their_addresses() -> None:
    """Every address of the answer may be connected to."""
    assert await addresses("https://ok.example.test/") == (PUBLIC,)
    assert await addresses("https://both.example.test/") == (PUBLIC, "2606:4700::1111")


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("mixed", "The host 'mixed.example.test' resolves to a private address."),
        ("v6", "resolves to a cloud metadata address inside an IPv6 address."),
        ("nat64", "resolves to a loopback address inside an IPv6 address."),
        ("zone", "resolves to an address with a zone."),
        ("empty", "The host 'empty.example.test' has no address."),
        ("odd", "resolves to something that is no address."),
        ("gone", "The host 'gone.example.test' does not resolve: Name or service not known."),
    ],
)
async def test_one_bad_address_refuses_the_whole_answer(host: str, words: str) -> None:
    """Mixed answers, carried addresses, zones, nothing and DNS failures are refused in words."""
    assert words in await refused(f"https://{host}.example.test/")


async def test_every_question_is_judged_anew() -> None:
    """A name that changes its answer is refused the second time."""
    judge = guard()
    place, _ = judge.policy.check_url("https://rebind.example.test/")
    assert await judge.addresses(place) == (PUBLIC,)
    with pytest.raises(EgressBlocked, match="resolves to a loopback address"):
        await judge.addresses(place)


async def test_messages_name_the_class_of_an_address_and_not_the_address() -> None:
    """An error that reaches a model maps no internal network, and tells the operator what to do."""
    message = await refused("https://intranet.example.test/secret?q=hunter2")
    assert message == (
        "The host 'intranet.example.test' resolves to a private address. The operator can allow "
        "it: TOOLCRIB_EGRESS_ALLOW=intranet.example.test:443"
    )


async def test_the_operator_lets_a_host_through_at_any_address() -> None:
    """A listed host and port may be private and spoken to over http; its other ports may not."""
    allow = "intranet.example.test:8080"
    assert await addresses("http://intranet.example.test:8080/", allow) == ("10.0.0.5",)
    assert await addresses("https://intranet.example.test:8080/", allow) == ("10.0.0.5",)
    assert "private" in await refused("https://intranet.example.test/", allow)
    assert "only https is" in await refused("http://ok.example.test/", allow)


async def test_the_operator_lets_a_network_through() -> None:
    """Every address must lie in it or be public; over http every address must lie in it."""
    assert await addresses("http://intranet.example.test/", "10.0.0.0/8") == ("10.0.0.5",)
    assert await addresses("https://mixed.example.test/", "10.0.0.0/8") == (PUBLIC, "10.0.0.5")
    assert "only https is" in await refused("http://mixed.example.test/", "10.0.0.0/8")
    assert "only https is" in await refused("http://ok.example.test/", "10.0.0.0/8")
    assert await addresses("http://10.1.1.1/", "10.0.0.0/8") == ("10.1.1.1",)


async def test_literals_ask_no_resolver() -> None:
    """An address in a URL is judged at once, in whatever digits it is written."""
    judge = guard()
    for url in ("https://127.0.0.1/", "https://①②⑦.⓪.⓪.①/", "https://[::1]/", "https://0.0.0.0/"):
        with pytest.raises(EgressBlocked):
            judge.policy.check_url(url)
    place, _ = judge.policy.check_url(f"https://{PUBLIC}/")
    assert await judge.addresses(place) == (PUBLIC,)
    assert isinstance(judge.resolver, ScriptedResolver)
    assert judge.resolver.asked == []


@pytest.mark.parametrize(
    ("url", "allow", "verdict"),
    [
        (
            "https://ok.example.test/x?key=v",
            "",
            Verdict(
                allowed=True,
                host="ok.example.test",
                addresses=(PUBLIC,),
                reason="The addresses may be used.",
            ),
        ),
        (
            "http://intranet.example.test/",
            "intranet.example.test",
            Verdict(
                allowed=True,
                host="intranet.example.test",
                addresses=("10.0.0.5",),
                reason="TOOLCRIB_EGRESS_ALLOW lists intranet.example.test:80.",
            ),
        ),
        (
            "https://mixed.example.test/",
            "",
            Verdict(
                allowed=False,
                host="mixed.example.test",
                addresses=(PUBLIC, "10.0.0.5"),
                reason="The host 'mixed.example.test' resolves to a private address. The operator "
                "can allow it: TOOLCRIB_EGRESS_ALLOW=mixed.example.test:443",
            ),
        ),
        (
            "https://user:hunter2@ok.example.test/",
            "",
            Verdict(
                allowed=False,
                host="",
                addresses=(),
                reason="The URL has a user name or password before its host.",
            ),
        ),
    ],
)
async def test_verdicts_show_host_addresses_and_reason(
    url: str, allow: str, verdict: Verdict
) -> None:
    """A preview sees what the guard saw, and never the rest of the URL."""
    assert verdict == await guard(*([allow] if allow else [])).verdict(url)
    assert list(verdict.as_json()) == ["allowed", "host", "addresses", "reason"]


def test_a_known_place_is_known_by_its_whole_name() -> None:
    """What was judged once is looked up by scheme, host and port, and by nothing shorter."""
    policy = EgressPolicy(["a.test:8"])
    judged = [
        "http://a.test:8/",
        "https://a.test:8/",
        "http://a.test:8/x/y?z#f",
        "http://a.test:8?q=/",
        "http://a.test:8#/",
        "http://a.test:8",
    ]
    for _ in range(2):
        found = [policy.check_url(url) for url in judged]
        assert [(place.origin, path) for place, path in found] == [
            ("http://a.test:8", "/"),
            ("https://a.test:8", "/"),
            ("http://a.test:8", "/x/y?z"),
            ("http://a.test:8", "/?q=/"),
            ("http://a.test:8", "/"),
            ("http://a.test:8", "/"),
        ]
    for near in ("http://a.test:80", "http://a.test:81", "http://a.test:8x", "http://a.test:8@b/"):
        with pytest.raises(EgressBlocked):
            policy.check_url(near)


@given(st.lists(st.sampled_from("htps:/.ab8@\\?#1[]"), max_size=16).map("".join))
def test_judging_again_gives_the_same_answer(text: str) -> None:
    """A policy that has seen much answers like one that has seen nothing."""
    for url in (f"https://{text}", f"https://a.test/{text}", f"https://a{text}"):
        for _ in range(2):
            assert _judgement(EXPERIENCED, url) == _judgement(EgressPolicy(), url)


EXPERIENCED = EgressPolicy()


def _judgement(policy: EgressPolicy, url: str) -> object:
    try:
        return policy.check_url(url)
    except EgressBlocked as blocked:
        return str(blocked)


addresses_of_any_kind = st.one_of(
    st.integers(0, 2**32 - 1).map(lambda number: str(IPv4Address(number))),
    st.integers(0, 2**128 - 1).map(lambda number: str(IPv6Address(number))),
    st.integers(0, 2**32 - 1).map(lambda number: str(IPv6Address((0xFFFF << 32) | number))),
    st.sampled_from(["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fe80::1", PUBLIC]),
)


@given(st.lists(addresses_of_any_kind, max_size=4))
async def test_no_host_passes_with_a_refused_address(answers: list[str]) -> None:
    """Whatever a resolver answers: allowed means every single address is public."""
    judge = Guard(EgressPolicy(), ScriptedResolver({"a.test": [answers]}))
    verdict = await judge.verdict("https://a.test/")
    good = bool(answers) and all(
        refusal(IPv6Address(text) if ":" in text else IPv4Address(text)) is None for text in answers
    )
    assert good == verdict.allowed


@given(st.text(max_size=40))
async def test_no_text_is_allowed_without_a_good_address(text: str) -> None:
    """Whatever the URL: the guard never raises, and only a known host with a good answer passes."""
    verdict = await guard().verdict(f"https://{text}")
    if verdict.allowed:
        assert all(
            refusal(IPv6Address(answer) if ":" in answer else IPv4Address(answer)) is None
            for answer in verdict.addresses
        )
        assert verdict.addresses


@pytest.mark.parametrize(
    "url", ["https://169.254.169.254/x", "https://[fd00:ec2::254]/x", "https://v6.example.test/x"]
)
async def test_nobody_is_told_to_open_the_metadata_service(url: str) -> None:
    """Other refusals name what an operator may set; this one would hand out credentials."""
    assert "TOOLCRIB_EGRESS_ALLOW" not in await refused(url)
    assert "TOOLCRIB_EGRESS_ALLOW" in await refused("https://10.0.0.5/x")
