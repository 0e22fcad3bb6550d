#!/bin/sh
# Run once by the image of PostgreSQL, on an empty volume: roles, the database, and a standby that has each commit before it is told.
set -eu
psql -v ON_ERROR_STOP=1 -U postgres \
  -v owner_password="$OWNER_PASSWORD" -v gateway_password="$GATEWAY_PASSWORD" -f /etc/prism/roles.sql
psql -v ON_ERROR_STOP=1 -U postgres -v password="$STANDBY_PASSWORD" <<'SQL'
CREATE ROLE standby LOGIN REPLICATION PASSWORD :'password';
ALTER SYSTEM SET synchronous_standby_names = 'standby';
SQL
echo 'host replication standby samenet scram-sha-256' >>"$PGDATA/pg_hba.conf"
