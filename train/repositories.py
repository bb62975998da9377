"""The repositories that the model learned from, with their licences; all of them allow it."""

from __future__ import annotations

from typing import NamedTuple


class Repository(NamedTuple):
    """Which files of a repository are read, and how many of its commits."""

    licence: str
    include: str
    exclude: str = r"(?!)"  # matches nothing
    commits: int = 0


# The folder of a mirror is owner+name.
REPOSITORIES = {
    "pandas-dev+pandas": Repository("BSD-3-Clause", r"\.(py|rst|md)$", r"(/data/|_vendor)", 4000),
    "apache+airflow": Repository(
        "Apache-2.0", r"\.(py|rst|md|ts|tsx)$", r"(_vendor|/i18n/|generated|provider\.yaml)", 5000
    ),
    "kubernetes+website": Repository(
        "CC-BY-4.0", r"content/en/.*\.md$", r"(/releases/|generated)", 1500
    ),
    "golang+go": Repository(
        "BSD-3-Clause",
        r"\.(go|md)$",
        r"(vendor/|zsyscall|zerrors|opGen|rewrite[A-Z0-9]|testdata/|_string\.go)",
        4000,
    ),
    "nodejs+node": Repository(
        "MIT", r"(^doc/.*\.md|^lib/.*\.js|^test/parallel/.*\.js)$", r"(changelogs|^deps/)", 3000
    ),
    "django+django": Repository(
        "BSD-3-Clause", r"\.(py|txt|js)$", r"(locale/|/releases/[01])", 4000
    ),
    "home-assistant+core": Repository("Apache-2.0", r"\.py$", r"(generated|/fixtures/|^tests/)"),
    "scikit-learn+scikit-learn": Repository(
        "BSD-3-Clause", r"\.(py|rst)$", r"(externals|/whats_new/)", 3000
    ),
    "mlflow+mlflow": Repository(
        "Apache-2.0",
        r"\.(py|md|mdx|ts|tsx)$",
        r"(protos|generated|vendor|\.claude|\.agents|node_modules)",
        2000,
    ),
    "sqlalchemy+sqlalchemy": Repository(
        "MIT", r"\.(py|rst)$", r"(changelog/changelog_0|changelog_1[0-3])", 2000
    ),
    "pytest-dev+pytest": Repository("MIT", r"\.(py|rst)$", r"(_vendored)", 2000),
    "tiangolo+fastapi": Repository("MIT", r"(^docs/en/.*\.md|\.py)$", r"(release-notes)", 1000),
    "TheAlgorithms+Python": Repository("MIT", r"\.py$"),
    "rust-lang+book": Repository("MIT OR Apache-2.0", r"^src/.*\.md$"),
    "tokio-rs+tokio": Repository("MIT", r"\.(rs|md)$", r"(CHANGELOG)", 1500),
    "astral-sh+ruff": Repository(
        "MIT", r"\.(rs|md)$", r"(CHANGELOG|changelogs|resources/test)", 2500
    ),
    "eslint+eslint": Repository(
        "MIT", r"(^docs/src/.*\.md|^lib/.*\.js)$", r"(_posts|component-library)", 2500
    ),
    "reactjs+react.dev": Repository("CC-BY-4.0", r"^src/content/.*\.md$"),
    "aws+aws-cli": Repository(
        "Apache-2.0", r"(awscli/examples/.*\.rst|awscli/.*\.py)$", r"(botocore/data)"
    ),
    "spring-projects+spring-framework": Repository(
        "Apache-2.0", r"(src/main/.*\.java|\.adoc)$", r"(/asm/|/cglib/|objenesis)", 3000
    ),
    "apache+commons-lang": Repository("Apache-2.0", r"src/main/.*\.java$", commits=1000),
    "angular+angular": Repository(
        "MIT",
        r"(packages/.*\.ts|adev/src/content/.*\.md)$",
        r"(goldens|/test/|locales|_spec\.ts)",
        4000,
    ),
    "github+docs": Repository("CC-BY-4.0", r"^content/.*\.md$"),
    "docker+docs": Repository("Apache-2.0", r"^content/.*\.md$", r"(release-notes)", 1500),
    "microsoft+playwright": Repository(
        "Apache-2.0",
        r"(docs/src/.*\.md|packages/.*\.ts)$",
        r"(release-notes|third_party|bundles)",
        3000,
    ),
    "tldr-pages+tldr": Repository("CC-BY-4.0", r"^pages/.*\.md$"),
    "cheat+cheatsheets": Repository("CC0-1.0", r"^[^.][^/]*$"),
    "google-research-datasets+Taskmaster": Repository(
        "CC-BY-4.0", r"\.json$", r"(ontology|reward|apis)"
    ),
    "clinc+oos-eval": Repository("CC-BY-3.0", r"data_full\.json$"),
    "PolyAI-LDN+task-specific-datasets": Repository("CC-BY-4.0", r"\.csv$"),
    "BurntSushi+ripgrep": Repository("MIT OR Unlicense", r"\.(rs|md)$", r"CHANGELOG", 1500),
    "pydantic+pydantic-ai": Repository("MIT", r"(docs/.*\.md|\.py)$", r"cassettes", 1500),
    "modelcontextprotocol+python-sdk": Repository("MIT", r"\.(py|md)$", commits=600),
    "simonw+datasette": Repository("Apache-2.0", r"\.(py|rst)$", commits=1500),
    "python-attrs+attrs": Repository("MIT", r"\.(py|md|rst)$", commits=1000),
    "kubernetes+kubernetes": Repository(
        "Apache-2.0",
        r"^(pkg|cmd|staging)/.*\.go$",
        r"(zz_generated|generated|_test\.go|vendor/|openapi|applyconfigurations)",
        3000,
    ),
    "vercel+next.js": Repository(
        "MIT", r"(^docs/.*\.mdx|^errors/.*\.mdx|packages/next/src/.*\.ts)$", r"compiled", 3000
    ),
}

# Whole repositories that are only ever asked about, so that what is measured was not learned.
DEVELOPMENT = {
    "simonw+datasette",
    "tiangolo+fastapi",
    "tokio-rs+tokio",
    "python-attrs+attrs",
    "microsoft+playwright",
}
