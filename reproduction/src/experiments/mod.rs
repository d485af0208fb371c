//! The experiments, a file for each or for a family that differs in its table alone, and their
//! catalogue.

mod accounting;
mod acct_dpa19;
mod dpa19;
mod dpa19_accuracy;
mod dpa19_against;
mod dpa19_convergence;
mod dpa19_time;
mod fp23_lasso;
mod fp23_tab;
mod fp23_walk;
mod ls22;
mod ls22_methods;
mod ls22_rates;
mod ls22_smoothing;
mod ra18;
mod ra18_acct;
mod ra18_convergence;
mod ra18_privacy;
mod rdp20;
mod rdp20_accuracy;
mod rdp20_rdp;
mod rdp20_simulated;

use dpa19_accuracy::Dpa19Accuracy;
use dpa19_against::Dpa19Against;
use dpa19_convergence::Dpa19Convergence;
use ls22::PaperProblem;
use ls22_methods::Ls22Methods;
use rdp20_accuracy::Rdp20Accuracy;
use rdp20_simulated::Rdp20Simulated;

use crate::experiment::Experiment;

/// Every experiment, in the order of the papers.
pub const CATALOGUE: &[&dyn Experiment] = &[
    &ls22_smoothing::Ls22Smoothing,
    &Ls22Methods {
        id: "ls22-fig2",
        about: "VRADMM and SADMM against ε, general convex, beside SVRG-ADMM and STOC-ADMM",
        kind: PaperProblem::General,
    },
    &Ls22Methods {
        id: "ls22-fig3",
        about: "VRADMM and SADMM against ε, strongly convex, beside SVRG-ADMM and STOC-ADMM",
        kind: PaperProblem::Strong,
    },
    &Ls22Methods {
        id: "ls22-fig4",
        about: "VRADMM, SADMM and ssADMM on the lasso against ε",
        kind: PaperProblem::Lasso,
    },
    &ls22_rates::Ls22Rates,
    &Rdp20Accuracy {
        id: "rdp20-fig1",
        about: "L1 logistic regression: accuracy and objective against ε",
        loss: "logistic",
    },
    &Rdp20Accuracy {
        id: "rdp20-fig2",
        about: "L1 huberised SVM: accuracy and objective against ε",
        loss: "huberised-hinge:0.5",
    },
    &Rdp20Simulated {
        id: "rdp20-fig3",
        about: "simulated data: accuracy against ε",
        attributes: false,
    },
    &Rdp20Simulated {
        id: "rdp20-fig4",
        about: "simulated data: the share of true attributes found against ε",
        attributes: true,
    },
    &rdp20_rdp::Rdp20Rdp,
    &Dpa19Convergence {
        id: "dpa19-fig1",
        about: "convergence of DP-ADMM beside the algorithm without noise, L1",
        penalty: "l1",
    },
    &Dpa19Accuracy {
        id: "dpa19-fig2",
        about: "accuracy of DP-ADMM beside the algorithm without noise, L1",
        penalty: "l1",
    },
    &Dpa19Convergence {
        id: "dpa19-fig3",
        about: "convergence of DP-ADMM beside the algorithm without noise, L2",
        penalty: "l2",
    },
    &Dpa19Against {
        id: "dpa19-fig4",
        about: "DP-ADMM and Algorithm 2 over iterations, by the objective",
        objective: true,
    },
    &Dpa19Against {
        id: "dpa19-fig5",
        about: "DP-ADMM and Algorithm 2 over iterations, by the training loss",
        objective: false,
    },
    &Dpa19Accuracy {
        id: "dpa19-fig6",
        about: "accuracy of DP-ADMM, Algorithm 2 and the algorithm without noise, L2",
        penalty: "l2",
    },
    &dpa19_time::Dpa19Time,
    &acct_dpa19::AcctDpa19,
    &fp23_lasso::Fp23Lasso,
    &fp23_walk::Fp23Walk,
    &fp23_tab::Fp23Tab,
    &ra18_convergence::Ra18Fig1,
    &ra18_privacy::Ra18Privacy,
    &ra18_privacy::Ra18Fig3,
    &ra18_acct::Ra18Acct,
];

/// The experiment of that name.
pub fn find(id: &str) -> Option<&'static dyn Experiment> {
    CATALOGUE.iter().copied().find(|experiment| experiment.id() == id)
}
