import type { Played } from './answer.ts';

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/**
 * Makes a function that writes an answer without what no two runs have in common: ids, moments, signatures, what is left of a
 * limit. Ids become numbers in the order in which they come up, so that a mixed-up one shows.
 */
export function createNormaliser(): (played: Played) => Played {
  const numbers = new Map<string, number>();
  const numberOf = (text: string) => {
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    return number;
  };
  function normalise(text: string): string {
    return text
      .replaceAll(uuid, (id) => `<id ${numberOf(id.toLowerCase())}>`)
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
      .replaceAll(/"lastKey":"[\w-]+"/g, '"lastKey":"<cursor>"')
      .replaceAll(/(X-Amz-(?:Date|Signature)=)\w+/g, '$1<moment>')
      .replaceAll(/;r=\d+;t=\d+/g, ';<left>')
      .replaceAll(/<id \d+>-[0-9a-z]+$/g, '<request id>');
  }
  return ({ call, status, headers, body }) => ({
    call: normalise(call).replaceAll(/lastKey=[\w-]+/g, 'lastKey=<cursor>'),
    status,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, normalise(value)])),
    body: normalise(body),
  });
}
