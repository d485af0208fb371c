//! Tables with a schema: CSV, LIBSVM and Parquet files into dense or sparse rows, nothing inferred.
