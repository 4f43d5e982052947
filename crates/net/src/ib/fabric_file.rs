//! Fabrics as `ibnetdiscover` prints them and `ibsim` reads them.
