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
class ContextRule:
    """Values of `low` to `high` characters of `alphabet` whose name holds one of `words`."""

    kind: str
    words: tuple[str, ...]
    alphabet: str
    low: int
    high: int

    def pattern(self) -> str:
        return _UUID if self.alphabet == _UUID else f"[{self.alphabet}]{{{self.low},{self.high}}}"


def _uuid(kind: str, *words: str) -> ContextRule:
    return ContextRule(kind, words, _UUID, 36, 36)


CONTEXTS: tuple[ContextRule, ...] = (
    ContextRule("adafruit-io-key", ("adafruit",), URL, 32, 32),
    ContextRule("adobe-client-id", ("adobe",), ANYHEX, 32, 32),
    ContextRule("airtable-api-key", ("airtable",), ALNUM, 17, 17),
    ContextRule("algolia-api-key", ("algolia",), LOWER, 32, 32),
    ContextRule("alibaba-secret-key", ("alibaba", "aliyun"), LOWER, 30, 30),
    ContextRule("amplitude-api-key", ("amplitude",), ANYHEX, 32, 32),
    ContextRule("asana-client-id", ("asana",), DIGIT, 16, 16),
    ContextRule("asana-client-secret", ("asana",), LOWER, 32, 32),
    ContextRule("assemblyai-api-key", ("assemblyai", "assembly_ai"), ANYHEX, 32, 32),
    ContextRule("atlassian-api-token", ("atlassian", "confluence", "jira"), ALNUM, 24, 24),
    ContextRule("auth0-client-secret", ("auth0",), URL, 32, 64),
    ContextRule("aws-secret-access-key", ("aws", "amazon", "s3_", "secretaccess", "secret_access"),
                BASE64, 40, 40),
    ContextRule("azure-storage-key",
                ("accountkey", "azure", "sharedaccesskey", "cosmos", "servicebus"), BASE64, 43, 90),
    ContextRule("azure-openai-key", ("azure",), ALNUM, 32, 84),
    ContextRule("bitbucket-client-id", ("bitbucket",), ALNUM, 32, 32),
    ContextRule("bitbucket-client-secret", ("bitbucket",), LOOSE, 64, 64),
    ContextRule("bittrex-key", ("bittrex",), LOWER, 32, 32),
    ContextRule("bugsnag-api-key", ("bugsnag",), ANYHEX, 32, 32),
    ContextRule("cloudflare-api-token", ("cloudflare",), URL, 37, 40),
    ContextRule("cloudinary-secret", ("cloudinary",), URL, 27, 27),
    ContextRule("codecov-token", ("codecov",), LOWER, 32, 32),
    _uuid("codecov-upload-token", "codecov"),
    ContextRule("cohere-api-key", ("cohere", "co_api"), ALNUM, 40, 40),
    ContextRule("coinbase-token", ("coinbase",), URL, 64, 64),
    ContextRule("confluent-access-key", ("confluent",), LOWER, 16, 16),
    ContextRule("confluent-secret-key", ("confluent",), ALNUM, 64, 64),
    ContextRule("contentful-delivery-token", ("contentful",), LOOSE, 43, 43),
    ContextRule("datadog-key", ("datadog", "dd_api", "dd_app"), LOWER, 32, 40),
    ContextRule("deepgram-api-key", ("deepgram",), ANYHEX, 40, 40),
    ContextRule("deepseek-api-key", ("deepseek",), ALNUM, 32, 48),
    ContextRule("discord-bot-token", ("discord", "bot_token", "bottoken"), LOOSE, 59, 76),
    ContextRule("discord-client-id", ("discord",), DIGIT, 17, 20),
    ContextRule("discord-client-secret", ("discord",), LOOSE, 32, 32),
    ContextRule("discord-public-key", ("discord",), ANYHEX, 64, 64),
    ContextRule("droneci-token", ("drone",), ALNUM, 32, 32),
    ContextRule("dropbox-app-secret", ("dropbox",), LOWER, 15, 15),
    ContextRule("dropbox-long-lived-token", ("dropbox",), LOOSE, 50, 160),
    ContextRule("etsy-api-key", ("etsy",), LOWER, 24, 24),
    ContextRule("facebook-app-secret", ("facebook", "fb_app"), ANYHEX, 32, 32),
    ContextRule("fastly-api-token", ("fastly",), LOOSE, 32, 32),
    ContextRule("finicity-client-secret", ("finicity",), LOWER, 20, 20),
    ContextRule("finicity-api-token", ("finicity",), ANYHEX, 32, 32),
    ContextRule("finnhub-api-key", ("finnhub",), LOWER, 20, 40),
    ContextRule("flickr-api-key", ("flickr",), LOWER, 32, 32),
    ContextRule("freshbooks-token", ("freshbooks",), LOWER, 64, 64),
    ContextRule("freshdesk-api-key", ("freshdesk",), ALNUM, 20, 20),
    ContextRule("gcp-private-key-id", ("private_key_id",), ANYHEX, 40, 40),
    ContextRule("gitter-token", ("gitter",), URL, 40, 40),
    ContextRule("gocardless-secret", ("gocardless",), LOOSE, 40, 50),
    _uuid("heroku-api-key", "heroku"),
    _uuid("hubspot-api-key", "hubspot"),
    ContextRule("intercom-key", ("intercom",), LOOSE, 60, 60),
    ContextRule("jfrog-api-key", ("jfrog", "artifactory", "bintray", "xray"), ALNUM, 64, 73),
    ContextRule("kraken-key", ("kraken",), r"A-Za-z0-9/=_+-", 80, 90),
    ContextRule("kucoin-key", ("kucoin",), ANYHEX, 24, 24),
    _uuid("kucoin-secret", "kucoin"),
    ContextRule("launchdarkly-token", ("launchdarkly",), LOOSE, 40, 40),
    ContextRule("linear-client-secret", ("linear",), ANYHEX, 32, 32),
    ContextRule("linkedin-client-id", ("linkedin", "linked_in", "linked-in"), LOWER, 14, 14),
    ContextRule("linkedin-client-secret", ("linkedin", "linked_in", "linked-in"), ALNUM, 16, 16),
    ContextRule("lob-key", ("lob_", "lobtoken", "lobkey"), LOOSE, 35, 44),
    ContextRule("looker-client-id", ("looker",), LOWER, 20, 20),
    ContextRule("looker-client-secret", ("looker",), LOWER, 24, 24),
    ContextRule("mailchimp-key", ("mailchimp",), LOOSE, 32, 37),
    ContextRule("mailgun-signing-key", ("mailgun",), LOOSE, 32, 70),
    ContextRule("mattermost-token", ("mattermost",), LOWER, 26, 26),
    ContextRule("meraki-api-key", ("meraki",), ANYHEX, 40, 40),
    ContextRule("messagebird-api-token", ("messagebird", "message-bird", "message_bird"),
                LOWER, 25, 25),
    _uuid("messagebird-client-id", "messagebird", "message-bird", "message_bird"),
    ContextRule("mistral-api-key", ("mistral",), ALNUM, 32, 32),
    ContextRule("mixpanel-secret", ("mixpanel",), ANYHEX, 32, 32),
    ContextRule("netlify-access-token", ("netlify",), LOOSE, 40, 46),
    ContextRule("new-relic-key", ("new-relic", "newrelic", "new_relic"), URL, 32, 64),
    ContextRule("nytimes-key", ("nytimes", "newyorktimes", "new-york-times"), LOOSE, 32, 32),
    ContextRule("okta-api-token", ("okta",), LOOSE, 40, 44),
    ContextRule("onesignal-key", ("onesignal",), ALNUM, 48, 48),
    _uuid("onesignal-app-id", "onesignal"),
    ContextRule("opsgenie-key", ("opsgenie",), ALNUM, 32, 36),
    ContextRule("pagerduty-key", ("pagerduty", "pager_duty"), URL, 20, 32),
    ContextRule("plaid-client-id", ("plaid",), ALNUM, 24, 24),
    ContextRule("plaid-secret", ("plaid",), ALNUM, 30, 30),
    ContextRule("privateai-token", ("privateai", "private_ai", "private-ai"), LOWER, 32, 32),
    ContextRule("pusher-secret", ("pusher",), ANYHEX, 20, 20),
    ContextRule("rapidapi-key", ("rapidapi",), URL, 50, 50),
    ContextRule("reddit-client-secret", ("reddit",), URL, 27, 30),
    ContextRule("rollbar-access-token", ("rollbar",), ANYHEX, 32, 32),
    ContextRule("sendbird-token", ("sendbird",), ANYHEX, 40, 40),
    _uuid("sendbird-application-id", "sendbird"),
    ContextRule("sentry-access-token", ("sentry",), ANYHEX, 64, 64),
    ContextRule("shodan-api-key", ("shodan",), ALNUM, 32, 32),
    ContextRule("sidekiq-secret", ("contribsys",), "0-9a-f:", 17, 17),
    _uuid("snyk-api-key", "snyk"),
    ContextRule("sonar-token", ("sonar",), LOOSE, 40, 40),
    ContextRule("spotify-secret", ("spotify",), ANYHEX, 32, 32),
    ContextRule("square-secret", ("square",), LOOSE, 26, 64),
    _uuid("squarespace-token", "squarespace"),
    ContextRule("strava-secret", ("strava",), ANYHEX, 40, 40),
    ContextRule("sumologic-access-id", ("sumo",), ALNUM, 14, 14),
    ContextRule("sumologic-access-key", ("sumo",), ALNUM, 64, 64),
    ContextRule("telegram-token", ("telegr",), "0-9A-Za-z:_-", 40, 54),
    ContextRule("together-api-key", ("together",), ANYHEX, 64, 64),
    ContextRule("travis-token", ("travis",), ALNUM, 22, 22),
    ContextRule("trello-key", ("trello",), ALNUM, 32, 32),
    ContextRule("trello-token", ("trello",), ANYHEX, 64, 64),
    ContextRule("twilio-auth-token", ("twilio",), ANYHEX, 32, 32),
    ContextRule("twitch-key", ("twitch",), LOWER, 30, 30),
    ContextRule("twitter-api-key", ("twitter",), ALNUM, 25, 25),
    ContextRule("twitter-access-secret", ("twitter",), ALNUM, 45, 45),
    ContextRule("twitter-api-secret", ("twitter",), ALNUM, 50, 50),
    ContextRule("twitter-access-token", ("twitter",), "A-Za-z0-9-", 36, 62),
    ContextRule("typeform-token", ("typeform",), LOOSE, 40, 64),
    ContextRule("unsplash-key", ("unsplash",), URL, 43, 43),
    ContextRule("vercel-token", ("vercel",), ALNUM, 24, 24),
    ContextRule("wakatime-key", ("wakatime",), LOOSE, 36, 42),
    ContextRule("wandb-api-key", ("wandb",), ANYHEX, 40, 40),
    ContextRule("yandex-secret-key", ("yandex",), URL, 40, 42),
    ContextRule("yelp-api-key", ("yelp",), LOOSE, 128, 128),
    ContextRule("youtube-api-key", ("youtube",), URL, 39, 39),
    ContextRule("zendesk-secret-key", ("zendesk",), ALNUM, 40, 64),
    ContextRule("zoom-client-secret", ("zoom",), ALNUM, 32, 32),
    ContextRule("base64-docker-auth", ("kubeconfig", "dockerconfigjson"), BASE64, 16, 512),
    ContextRule("postman-key", ("postman",), UPPER, 26, 64),
)  # fmt: skip
