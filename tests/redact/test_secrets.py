"""Secrets in the places where logs have them: the value goes, everything else stays.

Nothing here is a real secret, and nothing is written so that a scanner would
take it for one: every value is generated, and prefixes are put together.
"""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Iterator

import pytest

from recollect.redact import Redactor

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def mixed(size: int, alphabet: str = ALNUM, *, seed: int = 7) -> str:
    """Random characters, the same on every run."""
    return "".join(random.Random(f"{size} {alphabet} {seed}").choices(alphabet, k=size))


VALUE = mixed(32)
DIGEST = mixed(32, HEX)
PASSWORD = "gr4y" + "!Heron" + "7kQ"
UUID = "-".join(mixed(size, HEX) for size in (8, 4, 4, 4, 12))
BASIC = base64.b64encode(f"deploy:{PASSWORD}".encode()).decode()
PEM = "\n".join(mixed(64, ALNUM + "+/", seed=line) for line in range(6))
GITHUB = "gh" + "p_" + mixed(36)
JWT = ".".join(["ey" + "J" + mixed(30), "ey" + "J" + mixed(60), mixed(43)])


def begin(kind: str) -> str:
    return "-----" + f"BEGIN {kind}-----"


def end(kind: str) -> str:
    return "-----" + f"END {kind}-----"


# Each line: what the text is, the text with {} where the secret stands, and the secret.
ASSIGNED = [
    ("a shell export", "export FOO_TOKEN={}", VALUE),
    ("a shell export in single quotes", "export X_SECRET='{}'", VALUE),
    ("a shell export in double quotes", 'export GRAFANA_API_KEY="{}"', VALUE),
    ("an env file", "DEBUG=1\nDB_PASSWORD={}\nPORT=5432", PASSWORD),
    ("an env file with DB_PASS", "DB_PASS={}", PASSWORD),
    ("a variable before a command", "PGPASSWORD={} psql -h db", PASSWORD),
    ("JSON", '{{"apiKey": "{}"}}', VALUE),
    ("JSON without blanks", '{{"client_secret":"{}","x":1}}', VALUE),
    ("JSON inside JSON", '{{\\"apiKey\\": \\"{}\\"}}', VALUE),
    ("JSON inside JSON inside JSON", '{{\\\\\\"accessToken\\\\\\": \\\\\\"{}\\\\\\"}}', VALUE),
    ("YAML", "db_password: {}", PASSWORD),
    ("YAML in quotes", 'auth_token: "{}"', VALUE),
    ("TOML", 'secret_key = "{}"', VALUE),
    ("INI", "[default]\naws_secret_access_key = {}", mixed(40, ALNUM + "/+")),
    ("properties", "spring.datasource.password={}", PASSWORD),
    ("Python", "API_TOKEN = '{}'", VALUE),
    ("an annotated Python constant", 'api_token: str = "{}"', VALUE),
    ("a keyword argument", 'Client(api_key="{}", timeout=3)', VALUE),
    ("a Python dictionary", "{{'refresh_token': '{}'}}", VALUE),
    ("an item assignment", 'os.environ["SERVICE_TOKEN"] = "{}"', VALUE),
    ("JavaScript", "const authToken = `{}`;", VALUE),
    ("TypeScript", "const apiKey: string = '{}';", VALUE),
    ("Go", 'var accessToken string = "{}"', VALUE),
    ("short Go", 'secretKey := "{}"', VALUE),
    ("Ruby", ':api_token => "{}"', VALUE),
    ("PHP", '$apiSecret = "{}";', VALUE),
    ("Java properties", 'System.setProperty("SERVICE_TOKEN", "{}")', VALUE),
    ("a Makefile", "SERVICE_TOKEN ?= {}", VALUE),
    ("XML", "<accessToken>{}</accessToken>", VALUE),
    ("XML over lines", "<secretToken>\n    {}\n</secretToken>", VALUE),
    ("XML attributes", '<add key="DbPassword" value="{}" />', PASSWORD),
    ("a container's environment", '{{"name": "API_TOKEN", "value": "{}"}}', VALUE),
    ("a manifest's environment", "- name: API_TOKEN\n  value: {}", VALUE),
    ("an option", "tool --password {} run", PASSWORD),
    ("an option with equals", "tool --api-key={} run", VALUE),
    ("an option in quotes", "tool --client-secret '{}'", VALUE),
    ("a URL query", "GET /v1/items?access_token={}&page=2", VALUE),
    ("a form", "grant_type=password&client_secret={}&scope=all", VALUE),
    ("npm", "//registry.example.org/:_authToken={}", VALUE),
    ("pypirc", "[pypi]\nusername = __token__\npassword = {}", PASSWORD),
    ("an ADO connection string", "Server=db;User Id=app;Password={};Encrypt=true", PASSWORD),
    ("an ODBC connection string", "Driver={{x}};Uid=app;Pwd={};", PASSWORD),
    (
        "an Azure connection string",
        "AccountName=x;AccountKey={};EndpointSuffix=y",
        mixed(86, ALNUM + "+/") + "==",
    ),
    (
        "a service bus connection string",
        "SharedAccessKeyName=root;SharedAccessKey={}",
        mixed(43, ALNUM + "+/") + "=",
    ),
    ("an added line of a diff", '+    "webhook_secret": "{}",', VALUE),
    ("a numbered line of a file", '   12→  api_key: "{}"', VALUE),
    (
        "an env dump in a tool result",
        '{{"content": "HOME=/home/u\\nMY_TOKEN={}\\nTERM=xterm"}}',
        VALUE,
    ),
    ("a hexadecimal key", "LICENSE_TOKEN={}", DIGEST),
    ("a UUID as a key", "VENDOR_API_KEY={}", UUID),
    ("Terraform", 'administrator_login_password = "{}"', PASSWORD),
    ("docker compose", "    environment:\n      - POSTGRES_PASSWORD={}", PASSWORD),
    ("a GitHub step", "env:\n  NODE_AUTH_TOKEN: {}", VALUE),
    ("a Dockerfile", "ENV NPM_TOKEN={}", VALUE),
    ("a plist", "<key>apiToken</key>\n<string>{}</string>", VALUE),
]

PLACES = [
    ("a bearer header", "Authorization: Bearer {}", VALUE),
    (
        "a bearer header for curl",
        "curl -H 'Authorization: Bearer {}' https://api.example.org",
        VALUE,
    ),
    ("a bearer header in JSON", '{{"Authorization": "Bearer {}"}}', VALUE),
    ("a bearer header in escaped JSON", '{{\\"authorization\\":\\"Bearer {}\\"}}', VALUE),
    ("a basic header", "Authorization: Basic {}", BASIC),
    ("a token header", "authorization: token {}", VALUE),
    ("a proxy header", "Proxy-Authorization: Basic {}", BASIC),
    ("a header without a scheme", "Authorization: {}", VALUE),
    ("a bearer in a log line", "sent Bearer {} to upstream", VALUE),
    ("X-Api-Key", "X-Api-Key: {}", VALUE),
    ("X-Auth-Token", "-H 'X-Auth-Token: {}'", VALUE),
    ("PRIVATE-TOKEN", 'curl --header "PRIVATE-TOKEN: {}" url', VALUE),
    ("a session cookie", "Cookie: theme=dark; sessionid={}; lang=en", VALUE),
    ("a cookie being set", "Set-Cookie: sid={}; Path=/; HttpOnly", VALUE),
    ("a URL with a password", "postgresql://app:{}@db.internal:5432/prod", PASSWORD),
    ("a URL with a password and no user", "redis://:{}@cache:6379/0", PASSWORD),
    ("a URL with a token", "https://{}@git.example.org/x.git", mixed(40, HEX)),
    ("an AMQP URL in a variable", "BROKER=amqp://guest1:{}@mq/vhost", PASSWORD),
    ("curl -u", "curl -u admin:{} https://x.example.org", PASSWORD),
    ("curl --user in quotes", "curl --user 'admin:{}' https://x.example.org", PASSWORD),
    ("netrc", "machine api.example.org login bot password {}", PASSWORD),
    ("netrc over lines", "machine api.example.org\n  login bot\n  password {}\n", PASSWORD),
    ("sshpass", "sshpass -p '{}' ssh root@host", PASSWORD),
    ("mysql", "mysql -h db -u root -p{} app", PASSWORD),
    ("redis-cli", "redis-cli -h cache -a {} ping", PASSWORD),
    ("docker login", "docker login -u me -p {} registry", VALUE),
    ("openssl", "openssl rsa -in k.pem -passin pass:{}", PASSWORD),
    ("a docker config", '{{"auths": {{"https://index.docker.io/v1/": {{"auth": "{}"}}}}}}', BASIC),
    (
        "a Kubernetes secret",
        "kind: Secret\ndata:\n  user: {}\n",
        base64.b64encode(b"administrator").decode(),
    ),
    ("a Kubernetes secret with its kind last", "data:\n  tls.key: {}\nkind: Secret\n", BASIC),
    ("a Kubernetes secret with plain data", "kind: Secret\nstringData:\n  pin: {}\n", PASSWORD),
    ("a Kubernetes secret in JSON", '{{"kind": "Secret", "data": {{"user": "{}"}}}}', BASIC),
    ("a JSON web token", "here: {} ok", JWT),
    ("a private key", begin("PRIVATE KEY") + "\n{}\n" + end("PRIVATE KEY"), PEM),
    ("an RSA key", begin("RSA PRIVATE KEY") + "\n{}\n" + end("RSA PRIVATE KEY"), PEM),
    ("an OpenSSH key", begin("OPENSSH PRIVATE KEY") + "\n{}\n" + end("OPENSSH PRIVATE KEY"), PEM),
    (
        "a key in JSON",
        '{{"private_key": "' + begin("PRIVATE KEY") + "\\n{}\\n" + end("PRIVATE KEY") + '\\n"}}',
        PEM.replace("\n", "\\n"),
    ),
    ("a key cut off before its end", begin("EC PRIVATE KEY") + "\n{}", PEM),
    ("a PGP key", begin("PGP PRIVATE KEY BLOCK") + "\n\n{}\n" + end("PGP PRIVATE KEY BLOCK"), PEM),
    ("a PuTTY key", "Private-Lines: 6\n{}\nPrivate-MAC: 00", PEM),
    (
        "a Slack webhook",
        "https://hooks.slack.com/{}",
        "services/T" + mixed(8) + "/B" + mixed(8) + "/" + mixed(24),
    ),
    (
        "a Discord webhook",
        "https://discord.com/api/webhooks/{}",
        mixed(18, string.digits) + "/" + mixed(68),
    ),
    (
        "a storage signature",
        "https://x.blob.core.windows.net/c?sv=2022&se=2030&sig={}",
        mixed(43, ALNUM) + "%3D",
    ),
]

TOKENS = [
    "sk" + "-ant-api03-" + mixed(95),
    "sk" + "-proj-" + mixed(120),
    "sk" + "-" + mixed(48),
    "gh" + "o_" + mixed(36),
    "github" + "_pat_" + mixed(22) + "_" + mixed(59),
    "gl" + "pat-" + mixed(20),
    "xox" + "b-" + mixed(12, string.digits) + "-" + mixed(12, string.digits) + "-" + mixed(24),
    "AK" + "IA" + mixed(16, string.ascii_uppercase + "234567"),
    "AI" + "za" + mixed(35),
    "ya29" + "." + mixed(60),
    "GOC" + "SPX-" + mixed(28),
    "npm" + "_" + mixed(36),
    "py" + "pi-AgEIcHlwaS5vcmc" + mixed(70),
    "hf" + "_" + mixed(34, string.ascii_letters),
    "SG" + "." + mixed(22) + "." + mixed(43),
    "sk" + "_live_" + mixed(24),
    "rk" + "_live_" + mixed(24),
    "wh" + "sec_" + mixed(32),
    "shp" + "at_" + mixed(32, HEX),
    "do" + "p_v1_" + mixed(64, HEX),
    "dapi" + mixed(32, HEX),
    "hv" + "s." + mixed(24),
    "dp" + ".pt." + mixed(43),
    "PM" + "AK-" + mixed(24, HEX) + "-" + mixed(34, HEX),
    "NR" + "AK-" + mixed(27, string.ascii_uppercase + string.digits),
    "glsa" + "_" + mixed(32) + "_" + mixed(8, HEX),
    "sntrys" + "_" + mixed(80),
    "lin" + "_api_" + mixed(40),
    "ntn" + "_" + mixed(46),
    "AGE-SECRET" + "-KEY-1" + mixed(58, string.ascii_uppercase + string.digits),
    "gs" + "k_" + mixed(52),
    "xai" + "-" + mixed(80),
    "pplx" + "-" + mixed(48),
    "r8" + "_" + mixed(37),
    "nvapi" + "-" + mixed(64),
    "dckr" + "_pat_" + mixed(27),
    "tskey" + "-auth-" + mixed(17) + "-" + mixed(32),
    "sb" + "p_" + mixed(40, HEX),
    mixed(14) + "." + "atlasv1." + mixed(67),
    mixed(32, HEX) + "-" + "us12",
    mixed(10, string.digits) + ":A" + mixed(34),
    mixed(3) + "8Q~" + mixed(34),
]
SENTENCES = [
    "{}",
    "the key is {} for now",
    "key={}",
    '"{}"',
    "first\\n{}\\nlast",
    "({})",
    "see {}.",
    "\x1b[32m{}\x1b[0m",
]


def cases() -> Iterator[tuple[str, str, str]]:
    yield from ASSIGNED
    yield from PLACES
    for number, token in enumerate(TOKENS):
        sentence = SENTENCES[number % len(SENTENCES)]
        yield f"token {number} in {sentence!r}", sentence, token


CASES = list(cases())


@pytest.mark.parametrize("engine", ["hyperscan", "python"])
@pytest.mark.parametrize(("where", "text", "secret"), CASES, ids=[case[0] for case in CASES])
def test_only_the_value_is_replaced(
    where: str, text: str, secret: str, engine: str, redactors: dict[str, Redactor]
) -> None:
    """Names, quotes and separators stay, so that the text still reads as what it was."""
    before, _, after = text.partition("{}")
    before, after = (
        before.replace("{{", "{").replace("}}", "}"),
        after.replace("{{", "{").replace("}}", "}"),
    )

    redacted = redactors[engine].redact(before + secret + after)

    assert redacted.startswith(before + "[REDACTED:")
    assert redacted.endswith("]" + after)
    assert redacted.count("[REDACTED:") == 1
    assert secret not in redacted


def test_the_same_secret_has_the_same_tag_everywhere(redactors: dict[str, Redactor]) -> None:
    """One may see that two files hold the same key without seeing the key."""
    redactor = redactors["auto"]

    first, second, other = redactor.redact_all(
        [f"one {GITHUB}", f"and {GITHUB} two", "gh" + "p_" + mixed(36, seed=8)]
    )

    assert first.split()[1] == second.split()[1]
    assert other != first.split()[1]


def test_another_store_has_other_tags() -> None:
    """Tags of one store cannot be looked up with the key of another."""
    assert Redactor(b"one").redact(GITHUB) != Redactor(b"two").redact(GITHUB)


def test_the_tag_names_the_kind_and_eight_digits(redactors: dict[str, Redactor]) -> None:
    tag = redactors["auto"].redact(GITHUB)

    assert tag.startswith("[REDACTED:github-pat:")
    assert len(tag) == len("[REDACTED:github-pat:]") + 8


def test_counts_say_what_was_replaced() -> None:
    redactor = Redactor(b"key")

    redactor.redact_all([GITHUB, f"{GITHUB} {GITHUB}", "nothing", f"Authorization: Bearer {VALUE}"])

    assert redactor.counts == {"github-pat": 3, "bearer-authorization": 1}


def test_two_keys_in_a_row_are_two_findings(redactors: dict[str, Redactor]) -> None:
    block = f"{begin('PRIVATE KEY')}\n{PEM}\n{end('PRIVATE KEY')}\n"

    findings = redactors["auto"].findings(block + "and\n" + block)

    assert [finding.kind for finding in findings] == ["private-key", "private-key"]


def test_findings_are_in_order_and_apart(redactors: dict[str, Redactor]) -> None:
    text = f"a {GITHUB} b TOKEN={VALUE} c {JWT} d password='{PASSWORD}'"

    findings = redactors["auto"].findings(text)

    assert [text[start:end] for _, start, end in findings] == [GITHUB, VALUE, JWT, PASSWORD]
