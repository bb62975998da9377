"""Passwords that people choose, in the places where they type them."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.redact import Redactor
from tests.redact.passwords import FORMS, GENERATORS

SAMPLES = 200
LUCK = 6  # three standard deviations of such a sample


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("made", GENERATORS)
@settings(
    max_examples=3,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(seed=st.integers(0, 9))
def test_hardly_a_password_is_left(
    form: str, made: str, seed: int, redactors: dict[str, Redactor]
) -> None:
    """At most two of a hundred, in each form and of each kind, give or take the luck of a draw."""
    chance = random.Random(f"{form} {made} {seed}")
    values = [GENERATORS[made](chance) for _ in range(SAMPLES)]

    redacted = redactors["auto"].redact_all([FORMS[form].format(value) for value in values])

    left = [value for value, text in zip(values, redacted, strict=True) if value in text]
    assert len(left) <= SAMPLES * 0.02 + LUCK


MNEMONIC = "able basket camera diesel elbow fabric galaxy hammer icon jacket kidney lemon"
RANDOM = "".join(random.Random(3).choices("abcdefghijkmnpqrstuvwxyzABCDEFGHJK23456789", k=24))
TOLD = [
    ("a name in Markdown", f"**App Secret**: {RANDOM}", RANDOM),
    ("a value on the next line", f"Client Secret:\n{RANDOM}\n", RANDOM),
    ("a key in words", "API key: `5a0c9b1e-7d21-4f3e-9c55-0b8a6f1d2e3c`", "5a0c9b1e-7d21-4f3e"),
    (
        "an output of Terraform",
        '{"db_password": {"sensitive": true, "type": "string", "value": "' + RANDOM + '"}}',
        RANDOM,
    ),
    (
        "what a cluster printed",
        "kubectl get secret db -o jsonpath='{.data.password}' | base64 -d\n" + RANDOM,
        RANDOM,
    ),
    ("words of a wallet", f"Your seed phrase is: {MNEMONIC}", MNEMONIC),
    ("words of a wallet in a variable", f'MNEMONIC="{MNEMONIC}"', MNEMONIC),
    ("a spaced app password", "app password: xkqv wzjp mnbt rfgh", "xkqv wzjp mnbt rfgh"),
    ("an OAuth answer", f"http://localhost:8085/?state=a1&code=4/0{RANDOM}&scope=x", RANDOM),
    ("a bot's address", f"https://api.telegram.org/bot123456789:{RANDOM}abcdefghijk/getMe", RANDOM),
    ("an option of ngrok", f"ngrok config add-authtoken {RANDOM}", RANDOM),
    ("a sentence", "the password is Kp7#mnPz91, ask me for more", "Kp7#mnPz91"),
    ("a sentence in Chinese", "服务器密码是 Kp7#mnPz91，用户名 ubuntu", "Kp7#mnPz91"),
    ("a sentence in Russian", "пароль: Kp7#mnPz91", "Kp7#mnPz91"),
    ("words of a wallet in a sentence", f"The recovery phrase is {MNEMONIC}", MNEMONIC),
    (
        "twice as many words of a wallet",
        f"my seed phrase: {MNEMONIC} magnet napkin ocean paddle quarter rabbit saddle tackle "
        "umbrella vacant wagon yard",
        "able basket",
    ),
    ("a weak one behind an at sign", "PGPASSWORD='@home1234'", "@home1234"),
    ("words in Korean", "비밀번호: walrus-copper-lantern-meadow", "walrus-copper-lantern-meadow"),
    ("a network drive", r"net use z: \\srv\share /user:ada Kp7#mnPz91", "Kp7#mnPz91"),
    ("an indented line", "Database password:\n\n    Summer2024!\n", "Summer2024!"),
    ("an at sign first", "PGPASSWORD='@7gQv!kWz' psql", "@7gQv!kWz"),
    ("an ampersand first", "password: '&7gQv!kWz'", "&7gQv!kWz"),
    (
        "the tail of a key",
        f"{RANDOM * 2}\n{RANDOM}==\n-----" + "END RSA PRIVATE KEY-----",
        f"{RANDOM * 2}\n{RANDOM}==",
    ),
    ("a mark last", "PASSWORD=Winter2026!\nX=1", "Winter2026!"),
    ("a connection string", "User ID=sa;Password=Yk82!mmQp;Encrypt=True;", "Yk82!mmQp"),
]


@pytest.mark.parametrize("engine", ["hyperscan", "python"])
@pytest.mark.parametrize(("where", "text", "secret"), TOLD, ids=[case[0] for case in TOLD])
def test_a_secret_goes_wherever_it_is_told(
    where: str, text: str, secret: str, engine: str, redactors: dict[str, Redactor]
) -> None:
    redacted = redactors[engine].redact(text)

    assert secret not in redacted
    assert redacted.count("[REDACTED:") == 1


NO_PASSWORDS = [
    "each file is identified by 'its name'",
    "the password is at least 12 characters long",
    "the password is sha256-hashed",
    "self.first_pass = use_encoder_hidden_states",
    "password: getPassword(user)",
    "password: z.string().min(8)",
    "password: Optional[str]",
    "password = request.form['password']",
    "password={props.password}",
    "the mnemonic is a list of twelve words which a wallet is made from again",
    "mkdir -p mysql-data/9f8e7d",
    "mysql -h db -u root -p shop",
    "zip -r out.zip reports",
    "| sudo -S apt-get update",
    "PASSWORD '{password}'",
    "identified by '<password>'",
    'sshpass -p "$SSH_PASS" ssh root@host',
    "redis-cli -a $REDIS_PASSWORD ping",
    "echo $PASSWORD | sudo -S ls",
    'password: "my-new-password"',
    "net use z: //srv/share /user:ada /persistent:yes",
    "echo $TOKEN | docker login -u ada --password-stdin",
    'sudo -S ls <<< "$(cat pw)"',
    "cat <<< hello | docker login --password-stdin",
    "ConvertTo-SecureString $pw -AsPlainText -Force",
    "contraseña: validarContraseña(valor)",
    "the password is validatePasswordV2",
    "Password:\n```ts\nconst password = input.value;\n```",
    "Password:\n\n  Enter your password below",
    "password: /^(?=.*[A-Z])(?=.*[0-9]).{8,}$/",
]


@pytest.mark.parametrize("engine", ["hyperscan", "python"])
@pytest.mark.parametrize("text", NO_PASSWORDS)
def test_what_only_speaks_of_passwords_stays(
    text: str, engine: str, redactors: dict[str, Redactor]
) -> None:
    assert redactors[engine].redact(text) is text
