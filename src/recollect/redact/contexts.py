"""Secrets without a prefix, known by the provider's name in front of them.

A hexadecimal string says nothing; after `DATADOG_API_KEY=` it does. One row
per provider: words that occur in the name, the characters of the value and how
many. The name must also hold a word such as token, key or id (see `names`),
so that prose and paths about a provider stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from recollect.redact.shapes import ALNUM, ANYHEX, BASE64, DIGIT, LOOSE, LOWER, UPPER, URL

_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"


@dataclass(frozen=True, slots=True)
class Context:
    """Values of `low` to `high` characters of `alphabet` whose name holds one of `words`."""

    kind: str
    words: tuple[str, ...]
    alphabet: str
    low: int
    high: int

    def pattern(self) -> str:
        return _UUID if self.alphabet == _UUID else f"[{self.alphabet}]{{{self.low},{self.high}}}"


def _uuid(kind: str, *words: str) -> Context:
    return Context(kind, words, _UUID, 36, 36)


CONTEXTS: tuple[Context, ...] = (
    Context("adafruit-io-key", ("adafruit",), URL, 32, 32),
    Context("adobe-client-id", ("adobe",), ANYHEX, 32, 32),
    Context("airtable-api-key", ("airtable",), ALNUM, 17, 17),
    Context("algolia-api-key", ("algolia",), LOWER, 32, 32),
    Context("alibaba-secret-key", ("alibaba", "aliyun"), LOWER, 30, 30),
    Context("amplitude-api-key", ("amplitude",), ANYHEX, 32, 32),
    Context("asana-client-id", ("asana",), DIGIT, 16, 16),
    Context("asana-client-secret", ("asana",), LOWER, 32, 32),
    Context("assemblyai-api-key", ("assemblyai", "assembly_ai"), ANYHEX, 32, 32),
    Context("atlassian-api-token", ("atlassian", "confluence", "jira"), ALNUM, 24, 24),
    Context("auth0-client-secret", ("auth0",), URL, 32, 64),
    Context(
        "aws-secret-access-key",
        ("aws", "amazon", "s3_", "secretaccess", "secret_access"),
        BASE64,
        40,
        40,
    ),
    Context(
        "azure-storage-key",
        ("accountkey", "azure", "sharedaccesskey", "cosmos", "servicebus"),
        BASE64,
        43,
        90,
    ),
    Context("azure-openai-key", ("azure",), ALNUM, 32, 84),
    Context("bitbucket-client-id", ("bitbucket",), ALNUM, 32, 32),
    Context("bitbucket-client-secret", ("bitbucket",), LOOSE, 64, 64),
    Context("bittrex-key", ("bittrex",), LOWER, 32, 32),
    Context("bugsnag-api-key", ("bugsnag",), ANYHEX, 32, 32),
    Context("cloudflare-api-token", ("cloudflare",), URL, 37, 40),
    Context("cloudinary-secret", ("cloudinary",), URL, 27, 27),
    Context("codecov-token", ("codecov",), LOWER, 32, 32),
    _uuid("codecov-upload-token", "codecov"),
    Context("cohere-api-key", ("cohere", "co_api"), ALNUM, 40, 40),
    Context("coinbase-token", ("coinbase",), URL, 64, 64),
    Context("confluent-access-key", ("confluent",), LOWER, 16, 16),
    Context("confluent-secret-key", ("confluent",), ALNUM, 64, 64),
    Context("contentful-delivery-token", ("contentful",), LOOSE, 43, 43),
    Context("datadog-key", ("datadog", "dd_api", "dd_app"), LOWER, 32, 40),
    Context("deepgram-api-key", ("deepgram",), ANYHEX, 40, 40),
    Context("deepseek-api-key", ("deepseek",), ALNUM, 32, 48),
    Context("discord-bot-token", ("discord", "bot_token", "bottoken"), LOOSE, 59, 76),
    Context("discord-client-id", ("discord",), DIGIT, 17, 20),
    Context("discord-client-secret", ("discord",), LOOSE, 32, 32),
    Context("discord-public-key", ("discord",), ANYHEX, 64, 64),
    Context("droneci-token", ("drone",), ALNUM, 32, 32),
    Context("dropbox-app-secret", ("dropbox",), LOWER, 15, 15),
    Context("dropbox-long-lived-token", ("dropbox",), LOOSE, 50, 160),
    Context("etsy-api-key", ("etsy",), LOWER, 24, 24),
    Context("facebook-app-secret", ("facebook", "fb_app"), ANYHEX, 32, 32),
    Context("fastly-api-token", ("fastly",), LOOSE, 32, 32),
    Context("finicity-client-secret", ("finicity",), LOWER, 20, 20),
    Context("finicity-api-token", ("finicity",), ANYHEX, 32, 32),
    Context("finnhub-api-key", ("finnhub",), LOWER, 20, 40),
    Context("flickr-api-key", ("flickr",), LOWER, 32, 32),
    Context("freshbooks-token", ("freshbooks",), LOWER, 64, 64),
    Context("freshdesk-api-key", ("freshdesk",), ALNUM, 20, 20),
    Context("gcp-private-key-id", ("private_key_id",), ANYHEX, 40, 40),
    Context("gitter-token", ("gitter",), URL, 40, 40),
    Context("gocardless-secret", ("gocardless",), LOOSE, 40, 50),
    _uuid("heroku-api-key", "heroku"),
    _uuid("hubspot-api-key", "hubspot"),
    Context("intercom-key", ("intercom",), LOOSE, 60, 60),
    Context("jfrog-api-key", ("jfrog", "artifactory", "bintray", "xray"), ALNUM, 64, 73),
    Context("kraken-key", ("kraken",), r"A-Za-z0-9/=_+-", 80, 90),
    Context("kucoin-key", ("kucoin",), ANYHEX, 24, 24),
    _uuid("kucoin-secret", "kucoin"),
    Context("launchdarkly-token", ("launchdarkly",), LOOSE, 40, 40),
    Context("linear-client-secret", ("linear",), ANYHEX, 32, 32),
    Context("linkedin-client-id", ("linkedin", "linked_in", "linked-in"), LOWER, 14, 14),
    Context("linkedin-client-secret", ("linkedin", "linked_in", "linked-in"), ALNUM, 16, 16),
    Context("lob-key", ("lob_", "lobtoken", "lobkey"), LOOSE, 35, 44),
    Context("looker-client-id", ("looker",), LOWER, 20, 20),
    Context("looker-client-secret", ("looker",), LOWER, 24, 24),
    Context("mailchimp-key", ("mailchimp",), LOOSE, 32, 37),
    Context("mailgun-signing-key", ("mailgun",), LOOSE, 32, 70),
    Context("mattermost-token", ("mattermost",), LOWER, 26, 26),
    Context("meraki-api-key", ("meraki",), ANYHEX, 40, 40),
    Context(
        "messagebird-api-token", ("messagebird", "message-bird", "message_bird"), LOWER, 25, 25
    ),
    _uuid("messagebird-client-id", "messagebird", "message-bird", "message_bird"),
    Context("mistral-api-key", ("mistral",), ALNUM, 32, 32),
    Context("mixpanel-secret", ("mixpanel",), ANYHEX, 32, 32),
    Context("netlify-access-token", ("netlify",), LOOSE, 40, 46),
    Context("new-relic-key", ("new-relic", "newrelic", "new_relic"), URL, 32, 64),
    Context("nytimes-key", ("nytimes", "newyorktimes", "new-york-times"), LOOSE, 32, 32),
    Context("okta-api-token", ("okta",), LOOSE, 40, 44),
    Context("onesignal-key", ("onesignal",), ALNUM, 48, 48),
    _uuid("onesignal-app-id", "onesignal"),
    Context("opsgenie-key", ("opsgenie",), ALNUM, 32, 36),
    Context("pagerduty-key", ("pagerduty", "pager_duty"), URL, 20, 32),
    Context("plaid-client-id", ("plaid",), ALNUM, 24, 24),
    Context("plaid-secret", ("plaid",), ALNUM, 30, 30),
    Context("privateai-token", ("privateai", "private_ai", "private-ai"), LOWER, 32, 32),
    Context("pusher-secret", ("pusher",), ANYHEX, 20, 20),
    Context("rapidapi-key", ("rapidapi",), URL, 50, 50),
    Context("reddit-client-secret", ("reddit",), URL, 27, 30),
    Context("rollbar-access-token", ("rollbar",), ANYHEX, 32, 32),
    Context("sendbird-token", ("sendbird",), ANYHEX, 40, 40),
    _uuid("sendbird-application-id", "sendbird"),
    Context("sentry-access-token", ("sentry",), ANYHEX, 64, 64),
    Context("shodan-api-key", ("shodan",), ALNUM, 32, 32),
    Context("sidekiq-secret", ("contribsys",), "0-9a-f:", 17, 17),
    _uuid("snyk-api-key", "snyk"),
    Context("sonar-token", ("sonar",), LOOSE, 40, 40),
    Context("spotify-secret", ("spotify",), ANYHEX, 32, 32),
    Context("square-secret", ("square",), LOOSE, 26, 64),
    _uuid("squarespace-token", "squarespace"),
    Context("strava-secret", ("strava",), ANYHEX, 40, 40),
    Context("sumologic-access-id", ("sumo",), ALNUM, 14, 14),
    Context("sumologic-access-key", ("sumo",), ALNUM, 64, 64),
    Context("telegram-token", ("telegr",), "0-9A-Za-z:_-", 40, 54),
    Context("together-api-key", ("together",), ANYHEX, 64, 64),
    Context("travis-token", ("travis",), ALNUM, 22, 22),
    Context("trello-key", ("trello",), ALNUM, 32, 32),
    Context("trello-token", ("trello",), ANYHEX, 64, 64),
    Context("twilio-auth-token", ("twilio",), ANYHEX, 32, 32),
    Context("twitch-key", ("twitch",), LOWER, 30, 30),
    Context("twitter-api-key", ("twitter",), ALNUM, 25, 25),
    Context("twitter-access-secret", ("twitter",), ALNUM, 45, 45),
    Context("twitter-api-secret", ("twitter",), ALNUM, 50, 50),
    Context("twitter-access-token", ("twitter",), "A-Za-z0-9-", 36, 62),
    Context("typeform-token", ("typeform",), LOOSE, 40, 64),
    Context("unsplash-key", ("unsplash",), URL, 43, 43),
    Context("vercel-token", ("vercel",), ALNUM, 24, 24),
    Context("wakatime-key", ("wakatime",), LOOSE, 36, 42),
    Context("wandb-api-key", ("wandb",), ANYHEX, 40, 40),
    Context("yandex-secret-key", ("yandex",), URL, 40, 42),
    Context("yelp-api-key", ("yelp",), LOOSE, 128, 128),
    Context("youtube-api-key", ("youtube",), URL, 39, 39),
    Context("zendesk-secret-key", ("zendesk",), ALNUM, 40, 64),
    Context("zoom-client-secret", ("zoom",), ALNUM, 32, 32),
    Context("base64-docker-auth", ("kubeconfig", "dockerconfigjson"), BASE64, 16, 512),
    Context("postman-key", ("postman",), UPPER, 26, 64),
)
