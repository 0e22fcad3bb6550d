-- The database as version 1 of its schema has it, with requests in every state. It is never changed: later versions must open it.
CREATE TABLE schema_versions (store TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT;
CREATE TABLE "service-requests-dev" (
  seq INTEGER PRIMARY KEY,
  request_id TEXT NOT NULL UNIQUE,
  chain_name TEXT NOT NULL,
  action TEXT NOT NULL,
  signer TEXT NOT NULL COLLATE NOCASE,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  tx_hash TEXT,
  error_message TEXT,
  claimed_by TEXT COLLATE NOCASE,
  claimed_at INTEGER,
  call_id TEXT
) STRICT;
CREATE INDEX "service-requests-dev.by_signer" ON "service-requests-dev" (signer, created_at, request_id);
CREATE INDEX "service-requests-dev.by_status" ON "service-requests-dev" (status, created_at, request_id);
CREATE INDEX "service-requests-dev.by_chain" ON "service-requests-dev" (chain_name, created_at, request_id);
CREATE INDEX "service-requests-dev.by_chain_status" ON "service-requests-dev" (chain_name, status, created_at, request_id);
CREATE TABLE "service-requests-dev.params" (seq INTEGER PRIMARY KEY, params TEXT NOT NULL) STRICT;
CREATE TABLE "service-requests-dev.counts" (status TEXT PRIMARY KEY, records INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE "service-relayers-dev" (
  address TEXT PRIMARY KEY COLLATE NOCASE,
  label TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE TABLE "service-ratelimit-dev" (
  key TEXT NOT NULL,
  window INTEGER NOT NULL,
  hits INTEGER NOT NULL,
  PRIMARY KEY (key, window)
) STRICT, WITHOUT ROWID;
INSERT INTO schema_versions VALUES ('service-requests-dev', 1), ('service-relayers-dev', 1), ('service-ratelimit-dev', 1);
INSERT INTO "service-relayers-dev" VALUES ('0x70997970C51812dc3A010C7d01b50e0d17dc79C8', 'first', 1767225600000, 1767225600000);
INSERT INTO "service-requests-dev" VALUES
  (1, '01900000-0000-7000-8000-000000000001', 'eip155:31337', 'WRITE_DATA_FOR', '0x52908400098527886E0F7030069857D2E4169EE7', 'pending', 4102444800001, 4102444800001, NULL, NULL, NULL, NULL, NULL),
  (2, '01900000-0000-7000-8000-000000000002', 'eip155:31337', 'WRITE_DATA_FOR', '0x52908400098527886E0F7030069857D2E4169EE7', 'processing', 1767225600002, 1767225600009, NULL, NULL, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', 1767225600009, '01900000-0000-7000-8000-00000000000a'),
  (3, '01900000-0000-7000-8000-000000000003', 'eip155:31337', 'WRITE_DATA_FOR', '0x52908400098527886E0F7030069857D2E4169EE7', 'success', 1767225600003, 1767225600009, '0x1111111111111111111111111111111111111111111111111111111111111111', NULL, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', 1767225600009, '01900000-0000-7000-8000-00000000000b'),
  (4, '01900000-0000-7000-8000-000000000004', 'eip155:31337', 'WRITE_DATA_FOR', '0x52908400098527886E0F7030069857D2E4169EE7', 'failed', 1767225600004, 1767225600009, NULL, 'nonce is used', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', 1767225600009, '01900000-0000-7000-8000-00000000000c');
INSERT INTO "service-requests-dev.params"
  SELECT seq, json_object('cloudId', '0x01', 'dataId', '0x02', 'payload', '0x03', 'relayerFee', '0', 'timestamp', '1767225600',
    'signer', signer, 'v', 27, 'r', '0x' || printf('%064d', seq), 's', '0x' || printf('%064d', 5)) FROM "service-requests-dev";
INSERT INTO "service-requests-dev.counts" VALUES ('pending', 1), ('processing', 1), ('success', 1), ('failed', 1);
