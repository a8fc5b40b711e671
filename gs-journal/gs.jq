# SPDX-License-Identifier: MIT
# What gs-journal query has at hand besides jq; see gs-journal(1).

# Events of the job with this identity.
def of(id): (id | tostring) as $id | select(.id == $id);

# Ends of attempts that did not end ok.
def failed: select(.event == "exit" and .status != 0);

# When an event was, for people, in UTC.
def when: .t | floor | todate;

# With --slurp: an object of identities and what f gives for the job's events,
# as an array; a job for which it gives nothing is left out.
def per_job(f): map(select(.id)) | group_by(.id)
  | map({key: .[0].id, value: map(f)} | select(.value != [])) | from_entries;

# With --slurp: how many attempts were started.
def attempts: per_job(select(.event == "start") | .attempt)
  | map_values(length);

# With --slurp: the wall seconds of each attempt.
def durations: per_job(select(.event == "exit") | .wall);

# With --slurp: the most MiB seen on one GPU.
def peaks: per_job(select(.peak) | .peak[]) | map_values(max);
