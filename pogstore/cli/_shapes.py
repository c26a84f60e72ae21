"""The shape of every answer to `--json`: what the reference prints, and what the tests hold real answers against.

`{a, b?, c: X}` is an object with the fields `a` and `c`, and sometimes `b`; `[X]` is a list of `X`; `X | Y` is either;
`…` stands for further fields, such as those of an event. Fields may be added, and are never taken away.
"""

from collections.abc import Mapping

EVENT = "{id, task, kind, clock, time, actor?, v, …}"
_CLAIM = "{event_id, actor, over, outdated, given_by?, worktree?, definition_id?, lease_until?}"
_LINE = (
    "task, title, status, category, priority, tags, aliases, claimed_by, events, first_time, last_time, "
    f"claims: [{_CLAIM}], incomplete?, damaged?"
)
TASK = (
    "{task, title, status, intent?, description?, category?, priority?, tags?, checklist?: [{text, done, …}], inputs?, "
    "context_files?, related_files?, estimate_minutes?, issue?, aliases?, extra?, "
    "scope?: {allow?, deny?}, commands?: {allow?, deny?}, "
    "budget?: {tokens?, cost_micro_usd?, minutes?, changed_lines?}, checks?, approvals?, "
    "links: [{rel, task?, event?, commit?}], claims: [" + _CLAIM + "], conflicted, "
    "reviews: [{event_id, actor, verdict, …}], reason, outcome, first_time, last_time, event_count, "
    "flagged: [{event, reason}], incomplete?, events?: [" + EVENT + "]}"
)
_CONFLICT = "{path, reason, event, later: [EVENT_ID]}"
_PLAN = (
    "{ok, plan: DIGEST, tasks: [TASK_ID], targets: [EVENT_ID], writes: [{path, action}], outcomes: [{event, outcome}], "
    "conflicts: [" + _CONFLICT + "], cascade: {events: [EVENT_ID], found, command} | null, kept: [" + _CONFLICT + "], "
    "older_side: [{path, reason, event}], skipped, uncovered: [EVENT_ID], shared?: [{path, event}], "
    "left: [{path, reason}], events: [EVENT_ID]}"
)
_REF = "{ref, task, outcome, old?, new?, reason?}"
_STEP = "{command, output}"
_BLAMED = "{line, text, owner, event?, task?, actor?, kind?, commit?, observed?, reason?, shared?, rule?, sure?}"
_CHAIN = (
    "{path, line, last?, text, owner, event: " + EVENT + " | null, task, title, intent, "
    "prompt: {event, text} | null, decisions: [{event, text}], reviews: [" + EVENT + "], commit}"
)
_IMPORTED = "{tasks, events, known, redacted, oddities: [{code, where, detail}]}"

_SAID = "{event, time, by, text, trust, verdict?, topic?, lacking?, cut_from?}"
_CONTEXT = (
    "{task, title, status, notice, budget: {tokens, estimated, rule}, "
    "standing: [{claim?, event?, field?, text?, trust?, cut_from?}], "
    "definition: [{field, trust, text?, value?, cut_from?}], limits: [{limit, value?}], "
    f"checklist: [{{item, done, text, trust}}], decisions: [{_SAID}], reviews: [{_SAID}], "
    "files: [{path, why: [PHRASE], trust, last?: {event, kind, task, by, time}}], "
    f"notes: [{_SAID}], related: [{{task, title, status, why: [PHRASE], outcome, trust, cut_from?}}], left_out}}"
)

ERROR = "{error: {code, message, hint, retryable}}"
"""What stands on standard error if a command fails."""

SHAPES: Mapping[str, str] = {
    "init": "{enabled, changed, steps: [PHRASE], snippets?: [{where, text}]}",
    "agent add": "{agent, scope, path, changed, excluded} | {agent, snippet}",
    "agent remove": "{agent, scope, path, changed, left}",
    "agent list": "[{agent, scope, path, events: [NAME], exact}]",
    "agent test": "{agent, ok, program, version, events: [{event, arrived, status, printed, ms}], file_seen, stored}",
    "demo": f"{{directory, steps: [{_STEP}]}}",
    "help": "[{command, section, help}] | {command, usage, help, options: [{names, value, help}], exits, commands?}",
    "new": TASK,
    "edit": TASK,
    "list": f"[{{{_LINE}}}]",
    "ready": f"[{{{_LINE}}}]",
    "next": f"{{{_LINE}, claim?: {EVENT}}} | null",
    "show": TASK + " | {id, task, kind, clock, time, actor?, v, texts, …}"
    " | {counts, places: [{event, field, line, kind}]}",
    "context": _CONTEXT,
    "share": "{task, title, event}",
    "local": "{task, local, changed, seen_at} | [TASK_ID]",
    "claim": EVENT,
    "release": EVENT,
    "start": f"{{task, title, status, events: [{EVENT}]}}",
    "run": EVENT,
    "record": "{lines, events, task: TASK_ID | null, tasks: [TASK_ID]}",
    "note": EVENT,
    "decide": EVENT,
    "check": EVENT,
    "move": EVENT,
    "block": EVENT,
    "review": EVENT,
    "done": EVENT,
    "cancel": EVENT,
    "status": (
        "{enabled, active: {task, title, status, claims: [" + _CLAIM + "]} | null, tasks, pending, closed, "
        "faults: [{ref, reason}], paused, limits, "
        "losses: [{reason, times, last}], new_losses, gaps: [{reason, coverage, steps, last}], set_aside: [FILE], "
        "hooks: [{agent, scope, path, exact}], interrupted: {verb, files} | null, "
        "redact: {rules, faults: [{rule, reason}], active}}"
    ),
    "doctor": "{ok, checks: [{check, result, text, hint}]}",
    "drain": "{stored, pending, reason}",
    "pause": "{paused, changed}",
    "log": f"[{EVENT}]",
    "diff": "[{event, changes: [{path, from?, before?, after?}], patch}]",
    "blame": (
        f"[{{path, lines: [{_BLAMED}], absent?}}] | {{base, tip, added, removed, "
        f"files: [{{path, from?, what, added, removed, lines?: [{_BLAMED}], absent?}}], "
        "writers: [{kind, name, model?, lines, share}], tasks: [{task, title, lines, share}]}"
    ),
    "why": f"{_CHAIN} | [{_CHAIN}]",
    "trace": (
        "{task?, event?, actor?, added, standing, share, work_tree: {standing, share} | null, "
        "events: [{event, added, standing, here}], uncounted: [EVENT_ID], "
        "files: [{path, head: [{first, last, event}], work_tree: [{first, last, event}] | null}], absent: [EVENT_ID]}"
    ),
    "env show": "{event: EVENT_ID | null, members: {…}}",
    "env diff": "{same, sides: [{name, event: EVENT_ID | null}], differences: [{name, before, after}]}",
    "lineage": (
        "{asked, nodes: [{id, type, title?, status?, kind?, task?, actor?, author?, time?, path?, line?, missing?, "
        "up?, down?, more_up?, more_down?}], edges: [{from, to, rel, paths?}]}"
    ),
    "replay": (
        "{ok, base: OID | null, onto, events: [{event, task, outcome, places: [{path, reason}], on?, commit?}], "
        "uncovered: [EVENT_ID], recorded: [EVENT_ID], branch?, tip?, directory?, files?, left?: [{path, reason}]} | "
        "{event: EVENT_ID, argv: [WORD], cwd, environment: [{name, before, after}] | null, lacking: [PATH], ran, "
        "exit_code?: {recorded, now}, late?, outcome?, outputs?: [{path, verdict}], uncompared?: [PATH], "
        "others?: [PATH], kept?: DIRECTORY | null, replayed?: EVENT_ID | null}"
    ),
    "points": (
        "[{event, before, task, names: [NAME], time, actor, kind, tool?, changes: [PATH], worktree, complete, "
        "lacks: [{reason, times}], in_the_way, clean}]"
    ),
    "point": "{name, event, task, former, noted: EVENT_ID}",
    "restore": _PLAN,
    "rollback": _PLAN + " | {directory, conflicts: [{path, reason, event, merged}]}",
    "undo": _PLAN,
    "push": f"{{remote, ok, dry_run, refs: [{_REF}], joined: [{_REF}], "
    "refused: [{task, places: [{blob, where, line, kind}]}], local}",
    "fetch": f"{{remote, ok, refs: [{_REF}]}}",
    "pull": f"{{remote, ok, fetched: [{_REF}], joined: [{_REF}], ahead}}",
    "verify": "{ok, checked: {events, contents, refs, packs, absent}, faults: [{object, reason, lost, ref?, task?}]}",
    "gate": (
        "{ok, base: OID | null, tip: OID | null, files, covered, uncovered, tasks: [{task, title, lines, "
        "approvals: {needed, have}, checks: [{command, state}]}], "
        "problems: [{rule, reason, path?, lines?: [[NUMBER]], task?, event?}]}"
    ),
    "import pog-task": _IMPORTED,
    "import claude-code": _IMPORTED,
    "import codex": _IMPORTED,
    "import gemini": _IMPORTED,
    "reindex": "{tasks}",
    "version": "{pogstore, format}",
}
