#!/bin/sh
# Copies the primary, if there is nothing yet, and follows it. To promote: podman exec … psql -U postgres -c 'SELECT pg_promote()'.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  until PGPASSWORD="$STANDBY_PASSWORD" pg_basebackup --write-recovery-conf --wal-method=stream --pgdata="$PGDATA" \
    --dbname="host=database user=standby application_name=standby"; do
    sleep 2
  done
  chmod 700 "$PGDATA"
fi
exec postgres -c "primary_conninfo=host=database user=standby password=$STANDBY_PASSWORD application_name=standby"
