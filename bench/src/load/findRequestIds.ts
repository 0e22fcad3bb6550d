const everyId = /"requestId":"([0-9a-f-]{36})"/g;

/** Finds the ids of all records in the JSON of a page, without parsing the rest. */
export const findRequestIds = (body: Buffer) => Array.from(body.toString('latin1').matchAll(everyId), ([, id]) => id!);
