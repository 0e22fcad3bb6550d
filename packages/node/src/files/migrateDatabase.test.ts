import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { assertKnownSchemas, migrateDatabase, NewerSchemaError, type Schema } from './migrateDatabase.ts';

const first: Schema = { store: 'things', steps: ['CREATE TABLE things (name TEXT) STRICT'] };
const second: Schema = { store: 'things', steps: [...first.steps, 'ALTER TABLE things ADD COLUMN size INTEGER'] };
const other: Schema = { store: 'others', steps: ['CREATE TABLE others (id INTEGER) STRICT'] };

let database: DatabaseSync;
beforeEach(() => {
  database = new DatabaseSync(':memory:', { timeout: 5000 });
});
afterEach(() => database.close());

const versions = () =>
  database
    .prepare('SELECT * FROM schema_versions ORDER BY store')
    .all()
    .map((row) => ({ ...row }));

// Shows STORE-8.
test('data of an earlier version get the steps that they lack, once, and stay', () => {
  migrateDatabase(database, [first]);
  database.exec("INSERT INTO things VALUES ('a')");
  for (let i = 0; i < 2; i++) migrateDatabase(database, [second, other]);
  expect({ ...database.prepare('SELECT * FROM things').get() }).toEqual({ name: 'a', size: null });
  expect(versions()).toEqual([
    { store: 'others', version: 1 },
    { store: 'things', version: 2 },
  ]);
  expect({ ...database.prepare('PRAGMA busy_timeout').get() }).toEqual({ timeout: 5000 });
});

// Shows STORE-6.
test('data of a later version are refused, and left alone', () => {
  migrateDatabase(database, [second]);
  for (const open of [assertKnownSchemas, migrateDatabase]) {
    expect(() => open(database, [other, first])).toThrow(NewerSchemaError);
    expect(() => open(database, [other, first])).toThrow(/version 2, and this program knows 1: start a newer version/);
  }
  expect(versions()).toEqual([{ store: 'things', version: 2 }]);
});

test('what cannot be made whole is not made at all', () => {
  database.exec('CREATE TABLE others (x)');
  expect(() => migrateDatabase(database, [first, other])).toThrow('table others already exists');
  expect(database.prepare('SELECT name FROM sqlite_schema').all()).toHaveLength(1);
});

test('a step that ends the transaction by itself, as on a full disk, fails with its own reason', () => {
  database.exec(`
    CREATE TABLE schema_versions (store TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT;
    CREATE TRIGGER full BEFORE INSERT ON schema_versions BEGIN SELECT RAISE(ROLLBACK, 'the disk is full'); END`);
  expect(() => migrateDatabase(database, [first])).toThrow('the disk is full');
});
