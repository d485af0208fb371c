"""What is said of a run."""

import json
import pickle

import numpy as np
import pytest
from conftest import BUDGET

import reticent
from reticent import Certificate, PrivateLogisticRegression


@pytest.fixture
def certificate(patients, bounds):
    X, y = patients
    return PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1]).fit(X, y).certificate_


def test_the_curve_goes_through_what_was_asked(certificate):
    assert certificate.epsilon() == certificate.epsilon(1e-6) <= 2.0
    assert certificate.epsilon(1e-3) < certificate.epsilon() < certificate.epsilon(1e-9)
    profile = certificate.profile()
    assert np.all(np.diff(profile.delta) <= 0) and profile.epsilon[0] == 0
    assert certificate.profile([certificate.epsilon()]).delta[0] <= 1.0001e-6
    trade = certificate.trade_off()
    assert trade.missed[0] > 0.99 and trade.missed[-1] == 0
    assert np.all(trade.missed <= 1 - trade.false_alarms + 1e-12)
    assert certificate.trade_off(0.05).missed[0] > 0.3


def test_it_is_recounted(certificate):
    assert certificate.verify() is certificate
    said = json.loads(certificate.to_json())
    said["epsilon"] = 0.01
    with pytest.raises(reticent.NotCertified):
        Certificate.from_json(json.dumps(said)).verify()


def test_it_travels_and_shows_itself(certificate, tmp_path):
    assert pickle.loads(pickle.dumps(certificate)) == certificate
    path = tmp_path / "certificate.json"
    path.write_text(certificate.to_json())
    assert Certificate.read(path).to_json() == certificate.to_json()
    assert "<table>" in certificate._repr_html_() and "certified" in repr(certificate)
    assert certificate.meaning.split(".")[0] in certificate._repr_html_()
    with pytest.raises(ValueError):
        Certificate.from_json("{}")


def test_a_model_that_was_changed_is_refused(patients, bounds):
    X, y = patients
    model = PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1]).fit(X, y)
    assert model.model_.problems() == []
    said = json.loads(model.model_.to_json())
    said["intercept"][0] += 1.0
    with pytest.raises(ValueError):
        type(model.model_).from_json(json.dumps(said))
