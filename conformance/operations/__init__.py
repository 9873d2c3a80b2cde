"""Operations: tokens, sessions, activity, workers, doctor, dashboard."""
