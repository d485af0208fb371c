"""Three private methods as they were published, written small: what benches/benchmark.py compares with.

Rows have a norm of at most 1, the constant behind the intercept included; targets of a regression lie in [-1, 1]. A record is
added or removed, as each is proven for. They draw from NumPy's generator, and are no way to train on private data.
"""

import numpy as np
from scipy.optimize import minimize


def sigmoid(z):
    return 0.5 * (1 + np.tanh(0.5 * z))


def objective_perturbation(X, y, epsilon, delta, draw):
    """Kifer, Smith and Thakurta 2012, Algorithm 1 with Gaussian noise, for the logistic loss: its slope is at most 1 and its
    curvature at most 1/4. The ridge is the least that the theorem allows."""
    deviation = np.sqrt(8 * np.log(2 / delta) + 4 * epsilon) / epsilon
    ridge = 2 * 0.25 / epsilon
    pull = draw.normal(0, deviation, X.shape[1])
    sign = 2 * y - 1

    def objective(theta):
        margin = sign * (X @ theta)
        value = np.logaddexp(0, -margin).sum() + 0.5 * ridge * theta @ theta + pull @ theta
        return value, X.T @ (-sign * sigmoid(-margin)) + ridge * theta + pull

    start = np.zeros(X.shape[1])
    return minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000, "ftol": 1e-12}).x


def adassp(X, y, epsilon, delta, draw, failure=0.05):
    """Wang 2018, Algorithm 2: sufficient statistics with a ridge by the least eigenvalue, a third of the budget each."""
    d = X.shape[1]
    third, log = epsilon / 3, np.log(6 / delta)
    moment = X.T @ X
    least = np.linalg.eigvalsh(moment)[0]
    least = max(least + np.sqrt(log) / third * draw.normal() - log / third, 0)
    ridge = max(0, np.sqrt(d * log * np.log(2 * d * d / failure)) / third - least)
    upper = np.triu(draw.normal(0, np.sqrt(log) / third, (d, d)))
    noisy = moment + upper + np.triu(upper, 1).T
    correlation = X.T @ y + draw.normal(0, np.sqrt(log) / third, d)
    return np.linalg.solve(noisy + ridge * np.eye(d), correlation)


def concentrated(epsilon, delta):
    """The ρ of zero-concentrated privacy that is (ε, δ): Bun and Steinke 2016, Proposition 1.3."""
    log = np.log(1 / delta)
    return (np.sqrt(epsilon + log) - np.sqrt(log)) ** 2


def dp_newton(X, y, epsilon, delta, draw, iterations=10, gradient=0.75, trace=0.1):
    """Ganesh, Haghifam, Steinke and Thakurta 2023, Algorithm 3, with λ₀ added to the eigenvalues of the Hessian: noise on the
    gradient, then on the direction, whose sensitivity follows from λ₀. Their experiments give three quarters of the budget to
    gradients; λ₀ follows from a noisy trace, on which a tenth of the rest goes."""
    n, d = X.shape
    rho = concentrated(epsilon, delta) / iterations
    first, second = gradient * rho, (1 - gradient) * rho
    theta = np.zeros(d)
    for _ in range(iterations):
        chance = sigmoid(X @ theta)
        slope = X.T @ (chance - y) / n + draw.normal(0, np.sqrt(0.5 / first) / n, d)
        hessian = (X * (chance * (1 - chance))[:, None]).T @ X / n
        size = max(np.trace(hessian) + draw.normal(0, 0.25 / n * np.sqrt(0.5 / (trace * second))), 0)
        floor = max((size / (n**2 * (1 - trace) * second)) ** (1 / 3), 1 / n)
        moved = np.linalg.norm(slope) * 0.25 / (n * floor**2 + 0.25 * floor)
        noise = draw.normal(0, moved * np.sqrt(0.5 / ((1 - trace) * second)), d)
        theta = theta - np.linalg.solve(hessian + floor * np.eye(d), slope) + noise
    return theta
