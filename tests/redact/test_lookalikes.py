"""What only looks like a secret comes back byte for byte: a memory full of tags is no memory."""

from __future__ import annotations

import base64
import random

import pytest

from recollect.redact import Redactor


def digits(size: int, alphabet: str = "0123456789abcdef") -> str:
    return "".join(random.Random(size).choices(alphabet, k=size))


SHA1, SHA256, SHA512 = digits(40), digits(64), digits(128)
UUID = f"{digits(8)}-{digits(4)}-4{digits(3)}-a{digits(3)}-{digits(12)}"
BLOB = base64.b64encode(random.Random(1).randbytes(600)).decode()
URL_BLOB = base64.urlsafe_b64encode(random.Random(2).randbytes(600)).decode()

BENIGN = [
    # Hashes, ids and data
    f"commit {SHA1}",
    f"HEAD is now at {SHA1[:8]} fix the build",
    f"index {SHA1[:7]}..{SHA1[7:14]} 100644",
    f"sha256:{SHA256}  dist/app.tar.gz",
    f'"integrity": "sha512-{base64.b64encode(bytes.fromhex(SHA512)).decode()}"',
    f'checksum = "{SHA256}"',
    f'    {{file = "x-1.0.whl", hash = "sha256:{SHA256}"}},',
    f"--hash=sha256:{SHA256}",
    f"{SHA256}  ./bin/tool",
    f"session {UUID}",
    f'{{"id": "{UUID}", "parentUuid": "{UUID}"}}',
    f"tool_use_id: toolu_01{digits(22, 'ABCDEFGHabcdefgh12345678')}",
    f"call_{digits(24, 'ABCDEFGHabcdefgh12345678')}",
    f"req_{digits(24, 'ABCDEFGHabcdefgh12345678')}",
    f"data:image/png;base64,{BLOB}",
    f'"encrypted_content": "gAAAAA{URL_BLOB}"',
    f'"signature": "{BLOB}"',
    f"image: registry.example.org/app@sha256:{SHA256}",
    f'etag: W/"{SHA1}"',
    f"kms_key_id: {UUID}",
    f'SRCREV = "{SHA1}"',
    f'<svg><path d="M{digits(30, "0123456789. ")}"/></svg>',
    "go.sum h1:" + base64.b64encode(bytes.fromhex(SHA256)).decode(),
    f"ssh-ed25519 {base64.b64encode(random.Random(3).randbytes(51)).decode()} me@host",
    f"-----BEGIN CERTIFICATE-----\n{BLOB[:64]}\n{BLOB[64:128]}\n-----END CERTIFICATE-----",
    f"-----BEGIN PUBLIC KEY-----\n{BLOB[:64]}\n-----END PUBLIC KEY-----",
    f'public_key = "{BLOB[:43]}"',
    f"host_key_fingerprint SHA256:{BLOB[:43]}",
    # Placeholders
    "OPENAI_API_KEY=your-api-key-here",
    "api_key: <API_KEY>",
    'token = "<your token>"',
    "password: ${DB_PASSWORD}",
    "password: $DB_PASSWORD",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    'password = "{{ vault_db_password }}"',
    "API_KEY=%API_KEY%",
    "--password $PASSWORD",
    "--token=$(cat /run/token1)",
    "export ANTHROPIC_API_KEY=sk-ant-...",
    "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "AKIAIOSFODNN7" + "EXAMPLE",
    "xoxb-your-bot-token-goes-right-here",
    'secret: "changeme"',
    "POSTGRES_PASSWORD=postgres",
    "MYSQL_ROOT_PASSWORD: example",
    "postgres://user:password@localhost:5432/db",
    "redis://:${REDIS_PASSWORD}@cache:6379",
    "https://user:{token}@github.com/x.git",
    "mongodb://<user>:<password>@host/db",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    'headers = {"Authorization": f"Bearer {token}"}',
    "Authorization: Bearer YOUR_ACCESS_TOKEN",
    "curl -u user:pass https://example.org",
    'curl -u "$USER:$PASS" https://example.org',
    "docker run -u 1000:1000 image",
    "docker run --user $(id -u):$(id -g) image",
    "SECRET_KEY=xxxxxxxxxxxxxxxxxxxxxxxx",
    'password: "********"',
    'token: "••••••••••••"',
    '"secret": "<redacted>"',
    '"secret": "[REDACTED]"',
    "API_KEY=[REDACTED:openai-legacy-key:0a1b2c3d]",
    "password=***REMOVED***",
    "ENCRYPTION_KEY=0000000000000000000000000000000000000000",
    "TOKEN=abcdefghijklmnopqrstuvwxyz",
    "SECRET=1234567890",
    '{"password": "newpassword123"}',
    # Code
    'api_key = os.environ["OPENAI_API_KEY"]',
    'api_key = os.getenv("OPENAI_API_KEY", "")',
    "const apiKey = process.env.OPENAI_API_KEY2;",
    "token = get_token(request)  # returns str",
    "password: str",
    "password: str = Field(min_length=8)",
    "token: Optional[str] = None",
    "token: string | undefined;",
    "secret: SecretStr",
    "key: [u8; 32]",
    "api_key: bytes32",
    "password = input('Password: ')",
    "password = getpass.getpass()",
    "self.token = token2",
    "self.password = settings.database.password1",
    "passwordHash = bcrypt.hashSync(password, 10)",
    "if token == self.end_token_v2:",
    "token = tokens[0]",
    "secret = secrets.token_hex(32)",
    "key = f'{project}:{version}'",
    'key = "user_profile_cache_v2"',
    'cache_key = "session:3f2a1b4c5d6e7f80"',
    'primary_key = "id"',
    "PRIMARY KEY (id, created_at)",
    "foreign_key: user_id_1",
    'partition_key: "tenant#0042"',
    'sort_key = "2024-01-01T00:00:00Z"',
    "keyboard: qwerty102",
    'keywords = ["a1b2", "c3d4"]',
    'monkey = "bananas42banana7"',
    "max_tokens=4096, temperature=0.2",
    '"max_tokens": 200000',
    '"input_tokens": 123456789012',
    "total_tokens: 1234567",
    "tokens: 123",
    "token_count = 123456789",
    "next_token = 'a1B2c3D4e5F6g7H8'",
    "csrf_token: 9f8e7d6c5b4a39281706",
    'password_field = "input#login-pw1"',
    'token_url = "https://auth.example.org/oauth2/token"',
    'secret_name: "prod/db/credentials-1"',
    "secretKeyRef:\n  name: app-secrets-1\n  key: db-password-2",
    "key_file: /etc/ssl/private/server1.key",
    "credentials_path=/home/me/.config/gcloud/creds1.json",
    "ssh_key = ~/.ssh/id_ed25519",
    "def test_token_bucket_refills_after_interval():",
    "class PasswordResetTokenGenerator:",
    "hf_requiredCharacteristicTypesForDisplayMetadata",
    "sk-learn-style-estimator-with-a-long-name",
    "task-0123456789abcdef0123456789",
    "npm_config_registry_and_some_other_settings",
    "glpat-some-words-that-are-no-token",
    "eyJust.a.sentence",
    "import { tokenize } from './tokenizer-v2.js'",
    "TokenType.IDENTIFIER = 'identifier2'",
    "auth: AuthService2,",
    'author = "Jane Doe <jane42@example.org>"',
    "authority: login.example.org:8443",
    "Cookie: theme=dark; lang=en-GB",
    "set_cookie(response, name='sid', value=sid)",
    # Prose and logs
    "Please reset your password: the link is in the mail.",
    "The token expired at 2024-05-01T10:00:00Z, so the request failed with 401.",
    "password combination.\n\nR5: Regulatory--21",
    "secretSize must be >= SECRET_SIZE_MIN",
    "I rotated the API key yesterday, nothing else changed.",
    "Tokens used: 12345 (cached: 4096)",
    'File "/home/u/project/src/auth/token_store.py", line 42, in load_secret',
    "src/auth/password_reset.py:88: error: Missing return statement",
    "auth-service-7d9f8b6c5d-x2x4z   1/1   Running",
    "http://localhost:8080/callback?state=xyz",
    "see https://example.org/docs/api-keys#rotate-key-2",
    "git@github.com:owner/repository.git",
    "ssh://git@example.org:2222/repo.git",
    "warning: key 'tool.poetry.dev-dependencies' is deprecated",
    "Bearer tokens are described in RFC 6750.",
    "Basic usage: run the tool",
    "kind: SecretStore\ndata:\n  a: YWRtaW5pc3RyYXRvcg==",
    "kind: ConfigMap\ndata:\n  value: some-setting-1",
    "pass: 12, fail: 3",
    "tests passed: 128/130",
    "passwd: all authentication tokens updated successfully.",
    "Enter passphrase for key '/home/u/.ssh/id_rsa': ",
]


@pytest.mark.parametrize("engine", ["hyperscan", "python"])
@pytest.mark.parametrize("text", BENIGN)
def test_a_lookalike_is_left_alone(text: str, engine: str, redactors: dict[str, Redactor]) -> None:
    assert redactors[engine].redact(text) is text


def test_there_are_enough_lookalikes() -> None:
    assert len(BENIGN) >= 100
