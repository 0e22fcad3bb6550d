import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Longest value that is shown. */
const MAX_CHARACTERS = 80;

function shorten(value: unknown): string {
  const text = value instanceof Uint8Array ? `0x${Buffer.from(value).toString('hex')}` : String(value);
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;
const listFiles = (directory: string) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(db|sqlite)$/.test(name));

/** Lines of one database that hold an id in one of their fields. */
function readDatabase(database: DatabaseSync, id: string): readonly string[] {
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all();
  return tables.flatMap(({ name }) => {
    const columns = database.prepare(`PRAGMA table_info(${quote(String(name))})`).all();
    const where = columns.map((column) => `${quote(String(column.name))} = :id`).join(' OR ');
    const lines = database.prepare(`SELECT * FROM ${quote(String(name))} WHERE ${where}`).all({ id });
    return lines.map((line) => {
      const fields = Object.entries(line).filter(([, value]) => value !== null);
      return `${name}: ${fields.map(([field, value]) => `${field} ${shorten(value)}`).join(', ')}`;
    });
  });
}

/**
 * Reads what the databases on a machine's disk say of a request or payment.
 *
 * @param directory - the machine's folder
 * @returns a line for each of theirs
 */
export function readJournals(directory: string, id: string): readonly string[] {
  return listFiles(directory).flatMap((name) => {
    const database = new DatabaseSync(join(directory, name), { readOnly: true });
    try {
      return readDatabase(database, id);
    } finally {
      database.close();
    }
  });
}
