"""Passwords as people and programs make them, and the places where they are typed."""

from __future__ import annotations

import random
import string
from collections.abc import Callable

MARKS = "!@#$%^&*()-_=+[]{}<>?,.:~|"
SEASONS = ("Summer", "Winter", "Spring", "Autumn", "Welcome", "Berlin", "Monday")
SYLLABLES = "ba co di fu ga hel ig jo ka lum mer nor op pi qua ros sel tor un vel wes yar zin"
_WORDS = """
    walrus copper lantern meadow orbit pickle quartz saddle timber violet anchor barley cactus
    dragon ember falcon garlic hammer island jungle kettle lemon marble needle otter pepper
    rabbit silver turtle umbrella velvet window hidden masked tomato blanket cricket hollow
"""
WORDS = _WORDS.split()


def marked(chance: random.Random) -> str:
    """Twelve characters of any kind, at least a letter and a mark among them."""
    alphabet = string.ascii_letters + string.digits + MARKS
    while True:
        value = "".join(chance.choices(alphabet, k=12))
        if any(map(str.isalpha, value)) and any(one in MARKS for one in value):
            return value


def seasonal(chance: random.Random) -> str:
    """What a policy of capitals, digits and marks makes of people."""
    word = chance.choice(SEASONS)
    return f"{word}{chance.randint(2015, 2031)}{chance.choice('!?#$*')}"


def worded(chance: random.Random) -> str:
    """Four words with hyphens between."""
    return "-".join(chance.sample(WORDS, 4))


def mixed(chance: random.Random) -> str:
    """Sixteen letters and digits, as a program makes them."""
    return "".join(chance.choices(string.ascii_letters + string.digits, k=16))


def short(chance: random.Random) -> str:
    """Nine characters: syllables, digits and a mark between them."""
    first, second = chance.sample(SYLLABLES.split(), 2)
    number, mark = chance.randint(10, 99), chance.choice("!#%*")
    return f"{first.title()}{number}{mark}{second}{chance.randint(0, 9)}K"


GENERATORS: dict[str, Callable[[random.Random], str]] = {
    "marked": marked,
    "seasonal": seasonal,
    "worded": worded,
    "mixed": mixed,
    "short": short,
}

FORMS = {
    "YAML": "db:\n  password: {}\n",
    "YAML in quotes": "password: '{}'",
    "YAML in double quotes": 'password: "{}"',
    "an env file": "DB_PASSWORD={}\nPORT=1",
    "a variable in quotes": "PGPASSWORD='{}' psql -h db",
    "JSON": '{{"password": "{}", "x": 1}}',
    "mysql -p''": "mysql -u root -p'{}' shop",
    "sshpass -p": "sshpass -p '{}' ssh root@host uptime",
    "redis-cli -a": "redis-cli -h cache -a '{}' ping",
    "IDENTIFIED BY": "create user app identified by '{}';",
    "IDENTIFIED WITH": "ALTER USER 'app'@'%' IDENTIFIED WITH mysql_native_password BY '{}';",
    "SQL PASSWORD": "ALTER ROLE reporting WITH LOGIN PASSWORD '{}';",
    "SET PASSWORD": "SET PASSWORD FOR 'app'@'%' = PASSWORD('{}');",
    "mongosh -p": "mongosh --host db -u admin -p '{}' shop",
    "sqlcmd -P": "sqlcmd -S tcp:db,1433 -U sa -P '{}' -Q 'select 1'",
    "ldapsearch -w": "ldapsearch -x -D cn=admin,dc=org -w '{}' -b dc=org",
    "sudo -S": "echo '{}' | sudo -S systemctl restart nginx",
    "chpasswd": "echo 'deploy:{}' | sudo chpasswd",
    "zip -P": "zip -r -P '{}' out.zip reports",
    "htpasswd": "htpasswd -bc .htpasswd alice '{}'",
    "wpa_passphrase": "wpa_passphrase HomeNet '{}'",
    "setx": 'setx DB_PASSWORD "{}"',
    "SET PASSWORD of a user": "SET PASSWORD FOR app = '{}';",
    "a here-string": "sudo -S systemctl restart nginx <<< '{}'",
    "--password-stdin": "echo '{}' | docker login -u ada --password-stdin",
    "-storepass": "keytool -list -keystore a.jks -storepass '{}'",
    "a secure string": "ConvertTo-SecureString '{}' -AsPlainText -Force",
    "the next line": "Password:\n{}\n",
    "a block below": "Password:\n```\n{}\n```\n",
    "behind a colour": "password: \x1b[32m{}\x1b[0m\n",
    "behind a colour as JSON writes it": '{{"text": "password: \\u001b[32m{}\\u001b[0m"}}',
}
