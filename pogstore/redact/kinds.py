"""The rules that come with the program, from certain to careful, and the names of the kinds they find.

There are three sorts: keys to which their issuer gave a shape; frames that hold a secret (a private key block, the user
part of a URL); values assigned to a telling name. Only the last sort judges the value.
"""

from pogstore.redact.frames import (
    after,
    aws_secrets_beside,
    azure_client_secret,
    azure_devops_token,
    azure_signature,
    mixed_group,
    private_key,
    telegram_token,
    url_user,
)
from pogstore.redact.rule import B64URL, Judge, Rule, group, whole
from pogstore.redact.values import ASSIGNED, assigned_key, assigned_password, assigned_random

# The second part is empty where a token is encrypted directly; the third where it is not signed.
_JWT_REST = rf"{B64URL}{{8,}}+\.(?:{B64URL}{{8,}}+|(?=\.{B64URL}{{8}}))\.{B64URL}*+(?:\.{B64URL}++){{0,2}}"
_B64 = "[A-Za-z0-9%/+]"
_AWS_KEY_ID = "[A-Z0-9]{16}(?![A-Za-z0-9])"
_HEX_KEY = f"[0-9a-f]{{32}}(?!{B64URL})"
_BEARER = r"(?P<secret>(?=[\w.~+/=-]{0,63}[0-9=])[\w.~+/=-]{8,}+)"


def _key(kind: str, prefixes: str, least: int, chars: str = "A-Za-z0-9_-", before: str = "") -> Rule:
    """Returns the rule of a key that is a prefix and a run; what hangs on to the run goes with it."""
    return Rule(kind, prefixes, f"[{chars}]{{{least},}}+{B64URL}*+", whole, before)


def _anchored(*rules: Rule) -> tuple[tuple[bytes, Rule], ...]:
    return tuple((anchor.encode(), rule) for rule in rules for anchor in rule.anchors.split())


def _of_service(kind: str, names: str, shape: str, judge: Judge = group) -> Rule:
    """Returns the rule of a key whose shape others have too, so that the service must be named before it."""
    told = r"""[\w .-]{0,24}["'`]?\s{0,3}(?:[:=]>?|\bis\b)\s{0,3}["'`]?"""
    return Rule(kind, names, rf"(?={told}(?P<secret>{shape})(?![\w-]))", judge, before=None)


_ALNUM = "A-Za-z0-9"
# Each of these, anchor included, begins with 16 letters, digits, `_`, `-` or `.` at least.
KEYS = _anchored(
    Rule("aws-key-id", "AKIA ASIA ABIA ACCA", _AWS_KEY_ID, whole),
    Rule("aws-secret-key", "AKIA ASIA", _AWS_KEY_ID, aws_secrets_beside),
    _key("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", 30, _ALNUM),
    _key("github-token", "github_pat_", 36, "A-Za-z0-9_"),
    Rule(
        "gitlab-token",
        "glpat- glptt- gldt- glrt- glcbt- glsoat- glft- glagent- gloas- glimt-",
        rf"{B64URL}{{20,}}+(?:\.{B64URL}{{2,}}+){{0,3}}",
        whole,
    ),
    Rule("slack-token", "xox", rf"[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{{12,}}+{B64URL}*+", whole),
    _key("slack-token", "xapp-", 20),
    _key("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_ whsec_", 16, _ALNUM),
    _key("anthropic-key", "sk-ant-", 20),
    _key("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-or- sk-lf-", 20),
    _key("openai-key", "sk-", 32, _ALNUM, before="_-"),
    _key("google-api-key", "AIza", 35),
    _key("google-client-secret", "GOCSPX-", 20),
    _key("google-token", "ya29.", 30),
    _key("npm-token", "npm_", 30, _ALNUM),
    _key("pypi-token", "pypi-", 50),
    Rule("twilio-key", "SK", _HEX_KEY, whole, before="_-"),
    Rule("sendgrid-key", "SG.", rf"{B64URL}{{16,}}+\.{B64URL}{{16,}}+", whole, before="_-"),
    Rule("mailgun-key", "key-", _HEX_KEY, whole, before="_-"),
    _key("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", 32, "a-f0-9"),
    _key("shopify-token", "shpat_ shpca_ shppa_ shpss_", 32, "A-Fa-f0-9"),
    Rule("square-token", "sq0", f"[a-z]{{3}}-{B64URL}{{20,}}+", whole),
    Rule("databricks-token", "dapi", "[0-9a-f]{32}(?![A-Za-z0-9])(?:-[0-9]+)?", whole),
    _key("huggingface-token", "hf_ api_org_", 30, _ALNUM, before="_-"),
    _key("heroku-key", "HRKU-", 36),
    _key("atlassian-token", "ATATT3 ATCTT3", 40, "A-Za-z0-9_=-"),
    _key("vault-token", "hvs. hvb. hvr.", 24, before="_-"),
    _key("doppler-token", "dp.pt. dp.st.", 30, _ALNUM, before="_-"),
    _key("planetscale-token", "pscale_tkn_ pscale_pw_", 24),
    _key("docker-token", "dckr_pat_ dckr_oat_", 24),
    _key("registry-token", "rubygems_", 24),
    Rule("cloudflare-token", "v1.0-", f"[0-9a-f]{{20,}}+-[0-9a-f]{{100,}}+{B64URL}*+", whole, before="_-."),
    _key("model-key", "gsk_ xai- pplx- tvly- r8_", 30, _ALNUM, before="_-"),
    _key("model-key", "nvapi-", 40, before="_-"),
    _key("sentry-token", "sntrys_ sntryu_", 40),
    _key(
        "service-token",
        "lin_api_ ntn_ figd_ glsa_ sbp_ nfp_ NRAK- PMAK- CCIPAT_ tskey- xkeysib- sb_secret_",
        24,
        before="_-",
    ),
    _key("age-key", "AGE-SECRET-KEY-1", 50, "A-Z0-9"),
    Rule("jwt", "eyJ", _JWT_REST, whole, before="_-"),
)
FRAMES = _anchored(
    Rule("telegram-token", ":A", f"{B64URL}{{33,}}+", telegram_token, before=None),
    Rule("slack-webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/(?P<secret>[\w/+-]{20,}+)", group),
    Rule("discord-webhook", "/api/webhooks/", rf"[0-9]{{15,20}}/(?P<secret>{B64URL}{{40,}}+)", group, before=None),
    Rule("azure-key", "AccountKey= SharedAccessKey=", "(?P<secret>[A-Za-z0-9+/]{40,}+={0,2})", group, before=None),
    Rule("azure-key", "sig=", f"(?P<secret>{_B64}{{40,}}+)", azure_signature),
    Rule("azure-key", "Q~", r"(?P<rest>[\w~.-]{30,}+)", azure_client_secret, before=None),
    Rule("azure-key", "AZDO", "[A-Za-z0-9]{4}(?![A-Za-z0-9])", azure_devops_token, before=None),
    Rule("google-token", "1//0", f"{B64URL}{{30,}}+", whole),
    Rule("teams-webhook", "/IncomingWebhook/", rf"(?P<secret>{B64URL}{{16,}}+/[\w/-]{{16,}}+)", group, before=None),
    Rule("private-key", "-----BEGIN", " (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----", private_key, None),
    Rule("private-key", "Private-Lines:", r" \d{1,3}(?P<secret>(?:\r?\n[A-Za-z0-9+/=]{1,76}+(?=\s|\Z))+)", group),
    Rule(
        "url-password",
        "://",
        r"""(?P<user>[^\s/?#@:"'<>\\`\[\]]{0,256}+)(?::(?P<password>[^\s/?#"'<>\\`]{1,256}))?@(?=[\w\[])""",
        url_user,
        before=None,
    ),
    Rule("password", "-u --user", r"""[ =]?["']?[^\s:"'$]{1,64}+:(?P<secret>[^\s"'$]{4,256}+)""", after("curl"), "-"),
    Rule("password", "sshpass", r""" -p ?["']?(?P<secret>[^\s"']{4,256}+)""", after("")),
    Rule("password", "login", r"\s\S{1,64}\s{1,8}password\s{1,8}(?P<secret>\S{4,256}+)", after("machine ")),
)
NAMES = _anchored(
    _of_service("heroku-key", "heroku", "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    _of_service("cloudflare-token", "cloudflare cf_api x-auth-key", "[0-9a-f]{37}"),
    _of_service("cloudflare-token", "cloudflare cf_api", f"{B64URL}{{40}}", mixed_group),
    _of_service("mailgun-key", "mailgun", "[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}"),
    _of_service("twilio-key", "twilio", "[0-9a-f]{32}"),
    Rule(
        "authorization",
        "authorization",
        r"""\\{0,3}["'`]?\]?\s{0,4}(?::\s{0,4}|(?:=>|[=,])\s{0,4}(?=[\\"'`]))\\{0,3}["'`]?"""
        rf"(?:(?:bearer|basic|token|apikey|bot)\s{{1,4}})?(?!aws4-){_BEARER}",
        group,
        before=None,
    ),
    Rule("authorization", "bearer", rf"\s(?=\S{{16}}){_BEARER}", group),
    Rule("authorization", '"auth"', r'\s{0,4}:\s{0,4}"(?P<secret>(?=\w{0,63}[0-9=])[A-Z0-9+/]{12,}+={0,2})', group),
    Rule(
        "aws-secret-key",
        "secret_access_key secretaccesskey secret-access-key aws_secret_key",
        r"""\\{0,3}["'`]?\]?\s{0,8}[:=]>?\s{0,8}\\{0,3}["'`]?(?P<secret>[A-Z0-9/+]{40,}+)""",
        group,
        before=None,
    ),
    Rule("password", "password passwd passphrase pwd _pass", ASSIGNED, assigned_password, before=None),
    Rule("secret", "secret", ASSIGNED, assigned_key, before=None),
    Rule("api-key", "api_key apikey api-key", ASSIGNED, assigned_key, before=None),
    Rule(
        "secret-key",
        "access_key accesskey private_key privatekey auth_key signing_key encryption_key",
        ASSIGNED,
        assigned_key,
        before=None,
    ),
    Rule("token", "token", ASSIGNED, assigned_key, before=None),
    Rule("high-entropy", "key cred auth cookie", f"(?x)(?:ential)?s?{ASSIGNED[4:]}", assigned_random, before=None),
)
# In order of certainty.
KINDS = ("discord-token", *dict.fromkeys(rule.kind for _, rule in (*KEYS, *FRAMES, *NAMES)))
