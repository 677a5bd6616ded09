"""tune: k, method and components swept, each setting measured and attacked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from os import PathLike
from pathlib import Path

from sosie.audits.audit import AuditOptions
from sosie.audits.comparison import Comparison, encoded
from sosie.audits.context import Context, Known
from sosie.audits.definition import Definition
from sosie.audits.registry import DEFINITIONS, MEASURES, ON_TWINS
from sosie.audits.results import Metric
from sosie.audits.twins import Fold, twins
from sosie.compute.randomness import fresh_seed
from sosie.data.table import Roles, Table
from sosie.errors import InputError, Reason
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.methods import METHODS, method_of
from sosie.generate.settings import Decode
from sosie.studies.analyses import check
from sosie.tuning.agreeing import agreeing
from sosie.tuning.attackers import strongest
from sosie.tuning.results import AGREEING, STRONGEST, SWEPT, Setting, Trial, Tuning
from sosie.tuning.state import digest_of, key_of, known, load, save
from sosie.words import load as words_of
from sosie.words.readings import reason as written

__all__ = ["KS", "tune"]

KS = (3, 5, 8, 10, 15, 20, 30, 50)

TARGETS = 600
"""People attacked in each setting: their interval is about three points wide on either side."""

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class _Job:
    """What is the same for every setting."""

    table: Table
    originals: Table
    decode: Decode
    min_level_count: int | None
    seed: int
    releases: int
    attacked: int
    outcomes: Sequence[Hashable] | None
    known: Known | None
    analyses: Sequence[str]
    threads: int
    measured: tuple[Definition, ...]

    def avatarizer(self, setting: Setting) -> Avatarizer:
        return Avatarizer(
            setting.k,
            setting.components,
            method=setting.method,
            decode=self.decode if method_of(setting.method).decodes else None,
            min_level_count=self.min_level_count,
            seed=self.seed,
            threads=self.threads,
        )


def tune(
    data: object,
    *,
    ks: Sequence[int] = KS,
    methods: Sequence[str] = tuple(METHODS),
    components: Sequence[int] = (5,),
    decode: Decode = "draw",
    min_level_count: int | None = None,
    seed: int | None = None,
    roles: Roles | None = None,
    releases: int | None = None,
    context: Context | None = None,
    targets: Mapping[str, float | None] | None = None,
    attacked: int = TARGETS,
    outcomes: Sequence[Hashable] | None = None,
    analyses: Sequence[str] = (),
    folder: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    threads: int = -1,
) -> Tuning:
    """Measure what each setting hides and what it costs.

    In each setting avatars are made and compared: every metric of protection that has a
    target, the mean Hellinger distance and the difference of association. They are attacked
    by the strongest of the quick attackers who hold the originals and as many releases as
    planned. What needs people who took no part (the predictive ratio; linkability, inference
    and membership where they have a target) is measured as `run` does, on five twins: nobody
    is set aside. With analyses of a study, they are made on originals and on five releases:
    the share of terms that agree is one more measure of utility.

    Parameters
    ----------
    data : a pandas, polars or pyarrow table, one row a person; or a `Table`.
    ks, methods, components : the values to try, all combined.
    decode, min_level_count, threads : as for `Avatarizer`.
    seed : a secret; None takes one from the operating system. It is written nowhere.
    roles : see `Roles`.
    releases : how many will be published; by default what the context says, else 1.
    context : what sets the targets; see `Context`.
    targets : metric -> target, above those of the context; ``strongest_attack`` is one of
        them, in percent.
    attacked : people attacked in each setting.
    outcomes : columns that models predict; by default each in turn.
    analyses : of a study (see `sosie.studies.grammar`); by default those of the context.
    folder : where ``tune.json`` is written after each setting, and found again.
    progress : called with settings done, settings in all, and the setting at work.

    Raises
    ------
    InputError
        The table can't be used, there is nothing to try, or the folder holds another sweep.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": list(range(20, 60)) * 2, "sex": ["F", "M"] * 40})
    >>> found = tune(people, ks=(3, 9), methods=("smoothed",), seed=1)
    >>> [trial.setting.k for trial in found.trials], found.complete
    ([3, 9], True)
    """
    settings = _settings(ks, methods, components)
    judge = context or Context.of()
    goals = _goals(judge, targets or {})
    planned = judge.releases if releases is None else releases
    if planned < 1:
        raise InputError(f"releases must be at least 1, got {planned}")
    table = data if isinstance(data, Table) else Table.of(data, roles)
    texts = tuple(analyses) or judge.analyses
    check(table, texts)
    job = _Job(
        table=table,
        originals=encoded(table.frame.to_native(), table.roles.compared()),
        decode=decode,
        min_level_count=min_level_count,
        seed=fresh_seed() if seed is None else seed,
        releases=planned,
        attacked=attacked,
        outcomes=outcomes,
        known=judge.known or None,
        analyses=texts,
        threads=threads,
        measured=tuple(d for d in DEFINITIONS if _is_measured(d, goals)),
    )
    where = None if folder is None else Path(folder)
    tuning = _begun(job, settings, where)
    tuning = _continued(job, tuning, settings, goals, where, progress or _silent).judged(goals)
    if not any(trial.metrics for trial in tuning.trials):
        why = tuning.trials[0].reason
        told = "" if why is None else written(words_of("en"), why.to_dict())
        raise InputError(f"no setting can be tried: {told}", reason=why)
    return tuning


def _silent(*_: object) -> None:
    """Progress that nobody watches."""


def _begun(job: _Job, settings: Sequence[Setting], folder: Path | None) -> Tuning:
    """A sweep with what an earlier one of the same table and options measured already."""
    options: dict[str, object] = {
        "decode": job.decode,
        "min_level_count": job.min_level_count,
        "releases": job.releases,
        "attacked": job.attacked,
        "outcomes": job.outcomes,
    }
    if job.analyses:
        options["analyses"] = job.analyses
    if further := [d.key for d in job.measured if d.target is None and d not in SWEPT]:
        options["measured"] = further
    if job.known:
        options["known"] = dict(job.known)
    digest = digest_of(job.table, options, key_of(folder))
    before = None if folder is None else load(folder, digest)
    return Tuning(
        rows=len(job.table),
        columns=len(job.originals.columns),
        releases=job.releases,
        decode=job.decode,
        trials=(),
        wanted=len(settings),
        digest=digest,
    ).extended(known(before, settings))


def _continued(
    job: _Job,
    tuning: Tuning,
    settings: Sequence[Setting],
    goals: Mapping[str, float | None],
    folder: Path | None,
    progress: Progress,
) -> Tuning:
    """The sweep with every setting tried; it is written after each one."""
    known_settings = {trial.setting for trial in tuning.trials}
    for setting in settings:
        if setting in known_settings:
            continue
        progress(len(tuning.trials), len(settings), _label(setting))
        tuning = tuning.extended([_tried(job, setting)]).judged(goals)
        if folder is not None:
            save(folder, tuning)
    progress(len(settings), len(settings), "")
    return tuning


def _settings(
    ks: Sequence[int], methods: Sequence[str], components: Sequence[int]
) -> tuple[Setting, ...]:
    """All combinations, each once, in the order in which they are tried."""
    settings = tuple(
        dict.fromkeys(Setting(d, method, k) for d, method, k in product(components, methods, ks))
    )
    if not settings:
        raise InputError("tune needs at least one k, one method and one number of components")
    return settings


def _goals(context: Context, targets: Mapping[str, float | None]) -> dict[str, float | None]:
    goals = {
        definition.key: definition.target for definition in (*DEFINITIONS, STRONGEST, AGREEING)
    }
    for key in targets:
        if key not in goals:
            raise InputError(f"there is no metric {key!r}; there are {', '.join(goals)}")
    return goals | {**context.targets, STRONGEST.key: context.attack_target, **targets}


def _label(setting: Setting) -> str:
    return f"k={setting.k}, {setting.method}, {setting.components} components"


def _is_measured(definition: Definition, goals: Mapping[str, float | None]) -> bool:
    """Whether a sweep measures a metric: a target that nobody looks at can't be met."""
    targeted = definition.target is not None or goals[definition.key] is not None
    return definition in SWEPT or (definition.criterion != "utility" and targeted)


def _tried(job: _Job, setting: Setting) -> Trial:
    """Measure a setting; a setting that the table does not allow says why."""
    try:
        avatarizer = job.avatarizer(setting).fit(job.table)
        whole = cache(partial(_compared, job, avatarizer))
        folds = cache(partial(_twins, job, avatarizer))
        privacy = [d for d in job.measured if d.criterion != "utility"]
        utility = [d for d in job.measured if d.criterion == "utility"]
        metrics = [
            *(_swept(job, setting, definition, whole, folds) for definition in privacy),
            strongest(avatarizer, job.releases, job.attacked),
            *(_swept(job, setting, definition, whole, folds) for definition in utility),
            *([agreeing(avatarizer, job.analyses)] if job.analyses else []),
        ]
    except InputError as error:
        reason = error.reason or Reason("as_written", {"text": str(error)})
        return Trial(setting, {}, reason)
    trial = Trial(setting, {metric.key: _brief(metric) for metric in metrics})
    # As its file tells it, so that a sweep that goes on is one that never stopped.
    return Trial.from_dict(trial.to_dict())


def _compared(job: _Job, avatarizer: Avatarizer, release: int) -> Comparison:
    return Comparison.of(
        job.originals,
        avatarizer.release(release, shuffle=False),
        aligned=True,
        components=avatarizer.settings.components,
        threads=job.threads,
    )


def _twins(job: _Job, avatarizer: Avatarizer) -> tuple[Fold, ...] | Reason:
    return twins(avatarizer, job.originals, avatarizer.settings.components, job.threads)


def _swept(
    job: _Job,
    setting: Setting,
    definition: Definition,
    whole: Callable[[int], Comparison],
    folds: Callable[[], tuple[Fold, ...] | Reason],
) -> Metric:
    """A metric as `run` measures it, over as many releases as it declares, or on twins."""
    options = AuditOptions(k=setting.k, known=job.known, outcomes=job.outcomes)
    taken = options.of(*definition.options)
    try:
        if (twinned := ON_TWINS.get(definition.key)) is not None:
            made = folds()
            if isinstance(made, Reason):
                return definition.unavailable(made)
            return twinned(made, **taken)
        releases = 1 if definition.swept is None else definition.swept.releases
        measure = MEASURES[definition.key]
        return _averaged([measure(whole(release), **taken) for release in range(releases)])
    except InputError as error:
        if error.reason is None:
            raise
        return definition.unavailable(error.reason)


def _averaged(metrics: Sequence[Metric]) -> Metric:
    """Mean over releases, of the value and of the ends of its interval."""
    values = [metric.value for metric in metrics if metric.value is not None]
    intervals = [metric.ci for metric in metrics if metric.ci is not None]
    if not values:
        return metrics[0]
    ends = (
        None if not intervals else (_mean(i[0] for i in intervals), _mean(i[1] for i in intervals))
    )
    return replace(metrics[0], value=_mean(values), ci=ends)


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / max(len(known), 1)


def _brief(metric: Metric) -> Metric:
    """A metric without what is said column by column or person by person."""
    return replace(metric, columns=(), by_person={})
