"""Runs between parties."""

import numpy as np
import pytest
from conftest import BUDGET
from sklearn.base import clone

import reticent
from reticent import Budget, PrivateLogisticRegression


@pytest.fixture
def model(bounds):
    return PrivateLogisticRegression(
        **BUDGET, bounds=bounds, classes=[0, 1], settings={"iterations": 5}
    )


def test_records_are_dealt(model, patients):
    X, y = patients
    run = reticent.simulate(model, X, y, 5, trust="local", failures={"after": 0.05})
    assert run.parties == [0, 1, 2, 3, 4] and run.rounds == 5 and run.messages > 10
    assert run.model.certificate_.view == "local" and run.model.certificate_.unit == "record"
    assert run.model.predict(X).shape == y.shape and run.model.n_iter_ == 5
    assert not hasattr(model, "model_")
    table = run.to_frame()
    assert len(table) == 5 and table["certified"].all() and (table["epsilon"] <= 2.0).all()
    assert "parties=5" in repr(run)


def test_standard_errors_between_parties(patients, bounds):
    X, y = patients
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["age", "pressure"])
    arguments = {"bounds": bounds, "classes": [0, 1], "delta": 1e-5, "standard_errors": 0.4}
    explained = PrivateLogisticRegression(epsilon=1000.0, random_state=1, **arguments)
    pooled = clone(explained).fit(frame, y).standard_errors_
    for trust in ("local", "secure-aggregation", "central"):
        run = reticent.simulate(explained, frame, y, 4, trust=trust)
        own = run.model.standard_errors_
        assert list(own.index) == list(pooled.index)
        off = (own["estimate"] - pooled["estimate"]).abs() / pooled["standard_error"]
        wide = own["standard_error"] / pooled["standard_error"]
        assert (off < 0.5).all() and wide.between(0.9, 1.2).all(), trust
        assert run.to_frame()["certified"].sum() == 0 and run.model.certificate_.view == trust
    # Persons who are parties: what has them is asked for.
    person = np.arange(2000) % 50
    warned = pytest.warns(reticent.NoiseDominatesWarning)
    with warned:
        run = reticent.simulate(explained, frame, y, person, trust="local")
    assert run.model.certificate_.unit == "user" and run.model.certificate_.algorithm == "auto"


def test_parties_by_their_names(model, patients):
    pandas = pytest.importorskip("pandas")
    X, y = patients
    frame = pandas.DataFrame(X, columns=["age", "pressure"])
    hospital = np.where(np.arange(2000) < 1200, "south", "north")
    hospital[:100] = "west"
    model.set_params(unit="record")
    run = reticent.simulate(
        model, frame, y, hospital, trust="secure-aggregation", party_epsilon={"south": 1.0}
    )
    assert run.parties == ["north", "south", "west"]
    assert run.to_frame()["population"].to_dict() == {"west": 100, "south": 1100, "north": 800}
    spent = run.to_frame()["epsilon"]
    assert spent["south"] <= 1.0 < spent["north"] <= 2.0 and spent["west"] == spent["north"]
    assert run.certificates[1].epsilon() == spent["south"]
    with pytest.raises(ValueError, match="no such party"):
        reticent.simulate(model, frame, y, hospital, party_epsilon={"nobody": 1.0})
    # A holder that is a person is protected whole.
    person = np.arange(2000) % 50
    run = reticent.simulate(model.set_params(unit=None), frame, y, person, trust="central")
    assert run.model.certificate_.unit == "user"
    # Seats, and not who sits there.
    assert run.parties == list(range(50))
    with pytest.raises(ValueError, match="told to nobody"):
        reticent.simulate(model, frame, y, person, trust="central", party_epsilon={7: 1.0})


def test_persons_within_parties_and_parties_as_units(model, patients):
    X, y = patients
    hospital = np.array(["north", "south", "east"])[np.arange(2000) % 3]
    # Each of 500 patients has four records, at two of the three hospitals or more.
    patient = np.arange(2000) // 4
    pairs = len({*zip(hospital, patient)})
    model.set_params(algorithm="dp-sgd")
    for trust, fold in (("central", "k² times"), ("local", "k times"), ("secure-aggregation", "k² times")):
        run = reticent.simulate(model, X, y, hospital, patient, trust=trust)
        own = run.model.certificate_
        assert run.parties == ["east", "north", "south"] and own.certified
        assert (own.unit, own.population) == ("user", pairs)
        assert any(f"which is {fold} the entries" in said for said in own.assumptions)
        assert any("covered k-fold" in said for said in own.assumptions)
        assert "person within a party, with all their records there" in own.meaning
    model.set_params(unit="party")
    with pytest.warns(reticent.NoiseDominatesWarning, match="3 holders"):
        run = reticent.simulate(model, X, y, hospital, trust="central")
    assert (run.model.certificate_.unit, run.parties) == ("party", ["east", "north", "south"])
    with pytest.raises(ValueError, match="parties is a number"):
        reticent.simulate(model, X, y, 3, patient)
    with pytest.raises(ValueError, match="one table has no parties"):
        model.fit(X, y)
    model.set_params(unit=None, algorithm="federated")
    with pytest.raises(ValueError, match="protect a person within a party"):
        reticent.simulate(model, X, y, hospital, patient)


def test_a_budget_of_parties_knows_them_by_their_own_name(model, patients):
    pandas = pytest.importorskip("pandas")
    X, y = patients
    hospital = pandas.Series(np.arange(2000) % 120, name="hospital")
    ward = pandas.Series(np.arange(2000) % 130, name="ward")
    patient = pandas.Series(np.arange(2000) // 4, name="patient")
    budget = Budget(50, 1e-3, unit="party")
    model.set_params(unit="party", algorithm="dp-sgd", budget=budget)
    # Whose the records are is said beside, and is not who is protected.
    reticent.simulate(model, X, y, hospital, patient, trust="central")
    with pytest.raises(reticent.BudgetError, match="hospital|ward"):
        reticent.simulate(model, X, y, ward, patient, trust="central")
    reticent.simulate(model, X, y, hospital, trust="central")


def test_auto_is_the_default_and_adds_its_noise_at_the_parties(model, patients):
    X, y = patients
    pooled = model.set_params(epsilon=1.0, settings=None)
    for trust, seen in (("local", "its own party's noise"), ("secure-aggregation", "X25519")):
        run = reticent.simulate(pooled, X, y, 8, trust=trust)
        certificate = run.model.certificate_
        assert certificate.algorithm == "auto" and certificate.certified
        assert (certificate.view, certificate.unit) == (trust, "record")
        assert certificate.epsilon() <= 1.0 and run.rounds <= 400
        assert any(seen in assumed for assumed in certificate.assumptions)
        assert len(run.certificates) == 8 and (run.to_frame()["epsilon"] <= 1.0).all()
        assert (run.to_frame()["population"] == 2000).all()
        assert run.model.score(X, y) > 0.6
    hidden = reticent.simulate(
        pooled.set_params(adjacency="add-remove", public_n=2000), X, y, 8, trust="local"
    )
    assert hidden.model.certificate_.adjacency == "add-remove"


def test_another_algorithm_where_auto_does_not_run(model, patients):
    X, y = patients
    named = [
        ({"failures": {"after": 0.05}}, "federated"),
        ({"party_epsilon": {0: 0.5}}, "federated"),
        ({"trust": "central"}, "auto"),
    ]
    for options, name in named:
        run = reticent.simulate(model, X, y, 4, **options)
        assert run.model.certificate_.algorithm == name
    persons = reticent.simulate(model, X, y, np.arange(2000) % 50)
    assert persons.model.certificate_.algorithm == "federated"
    federated = model.set_params(algorithm="federated")
    run = reticent.simulate(federated, X, y, 4, trust="secure-aggregation")
    assert run.model.certificate_.algorithm == "federated" and run.rounds == 5
    # Behind masks sums go on without those who leave; where answers are seen they do not.
    model.set_params(algorithm="dp-sgd")
    left = {"before": 0.01, "after": 0.01}
    run = reticent.simulate(model, X, y, 40, trust="secure-aggregation", failures=left)
    assert run.model.certificate_.certified
    with pytest.raises(ValueError, match="ends where a party does"):
        reticent.simulate(model, X, y, 40, trust="local", failures=left)


def test_peers_without_a_server(model, patients):
    X, y = patients
    model.set_params(algorithm="r-admm", unit="record")
    run = reticent.simulate(model, X, y, 4, topology="ring")
    assert run.model.certificate_.algorithm == "r-admm" and run.model.certificate_.certified


def test_several_numbers_are_a_list_a_tuple_or_an_array(model, patients):
    X, y = patients
    model.set_params(algorithm="r-admm", unit="record", random_state=1)
    found = []
    for given in ("1,2,3", [1, 2, 3], (1.0, 2, 3), np.array([1, 2, 3.0]), [np.float64(1), 2, 3]):
        several = {"iterations": 4, "party_rho": given, "party_noise": given}
        model.set_params(settings={**several, "noise_schedule": "geometric:0.5"})
        with pytest.warns(reticent.NotPrivateWarning):
            found.append(reticent.simulate(model, X, y, 3).model.coef_)
    assert all(np.array_equal(one, found[0]) for one in found)
    model.set_params(settings={"party_rho": np.ones((2, 2))})
    with pytest.warns(reticent.NotPrivateWarning), pytest.raises(ValueError, match="party_rho"):
        reticent.simulate(model, X, y, 3)


def test_a_budget_pays_for_all_parties_at_once(model, patients):
    X, y = patients
    budget = Budget(2.0, 1e-6)
    model.set_params(budget=budget, epsilon=1.0)
    reticent.simulate(model, X, y, 4)
    # A filter is a little dearer than a plan; four parties one after the other would be twice it.
    assert 0.9 < budget.counted < 1.2
    with pytest.raises(reticent.NotCertified, match="another party"):
        reticent.simulate(model.set_params(unit="record"), X, y, np.arange(2000) % 4)


def test_what_cannot_be_is_refused_in_words(model, patients):
    X, y = patients
    wrong = [
        ({}, {"parties": 0}),
        ({}, {"parties": 4, "trust": "nobody"}),
        ({}, {"parties": 4, "topology": "ring"}),
        ({}, {"parties": 4, "skew": "heavy"}),
        ({}, {"parties": 4, "failures": {"sometimes": 0.1}}),
        ({}, {"parties": 4, "failures": {"after": 7.0}}),
        ({"algorithm": "dp-admm", "adjacency": "add-remove", "public_n": 2000}, {"parties": 4}),
        ({}, {"parties": -1}),
        ({}, {"parties": 2.5}),
        ({}, {"parties": None}),
        ({}, {"parties": 4, "public_seed": -1}),
        ({}, {"parties": 4, "party_epsilon": {0: float("nan")}}),
        ({}, {"parties": [0, 1] * 1000, "skew": "iid"}),
        ({"algorithm": "consensus"}, {"parties": 4}),
        ({"settings": {"outer": 3}}, {"parties": 4}),
    ]
    for params, options in wrong:
        with pytest.raises(ValueError) as error:
            reticent.simulate(
                PrivateLogisticRegression(
                    **{**BUDGET, "bounds": ([20, 80], [90, 200]), "classes": [0, 1], **params}
                ),
                X, y, **options,
            )
        said = str(error.value)
        assert "--" not in said and "split" not in said, (params, options, said)
        assert "trust" not in options or said.startswith("trust"), said
    with pytest.raises(TypeError):
        reticent.simulate("a model", X, y, 4)


def test_more_parties_than_records_are_refused_before_they_fill_the_memory(model, patients):
    X, y = patients
    refused = {10**9: "at most 10000000", 10**12: "give fewer", 2001: "2000 records"}
    for count, word in refused.items():
        with pytest.raises(ValueError, match=word) as error:
            reticent.simulate(model, X, y, count)
        assert f"parties = {count}" in str(error.value)
