import { describe, expect, test } from 'vitest';
import { checkAnnouncedBody, clientOfAddress, findPeer, parseBody } from './request.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

const codeOf = (code: string) => expect.objectContaining({ code });

describe('the content type', () => {
  const check = (type: string | undefined, announcedBytes: number | undefined = 2) =>
    checkAnnouncedBody(
      { raw: { headers: new Headers(type === undefined ? {} : { 'content-type': type }) }, announcedBytes },
      5,
    );

  test.each([
    undefined,
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json ;charset=utf-8',
    'application/problem+json',
    'application/vnd.api+json;v=1',
  ])('%s is JSON', (type) => {
    expect(() => check(type)).not.toThrow();
  });

  test.each([
    '',
    'text/plain',
    'text/json',
    'application/jsonp',
    'application/json5',
    'application/+json',
    'application/x-www-form-urlencoded',
    'application/json, text/plain',
    'text/plain; a=application/json',
    `application/${'a'.repeat(100_000)}+json`,
  ])('%.40j is not', (type) => {
    expect(() => check(type)).toThrow(codeOf('UNSUPPORTED_MEDIA_TYPE'));
  });

  test('counts for a body of unknown size, and a larger one is refused for its size', () => {
    const chunked = { raw: { headers: new Headers({ 'content-type': 'text/plain' }) }, announcedBytes: undefined };
    expect(() => checkAnnouncedBody(chunked, 5)).toThrow(codeOf('UNSUPPORTED_MEDIA_TYPE'));
    expect(() => check('application/json', 5)).not.toThrow();
    expect(() => check('text/plain', 6)).toThrow(codeOf('BODY_TOO_LARGE'));
  });

  test.each([
    ['identity', true],
    ['Identity', true],
    ['gzip', false],
    ['identity, br', false],
  ])('a body of the coding %s is taken: %j', (coding, isTaken) => {
    const encoded = { raw: { headers: new Headers({ 'content-encoding': coding }) }, announcedBytes: 2 };
    const check = expect(() => checkAnnouncedBody(encoded, 5));
    if (isTaken) check.not.toThrow();
    else check.toThrow(codeOf('UNSUPPORTED_MEDIA_TYPE'));
  });

  test('is of no account without a body', () => {
    expect(() => check('text/plain', 0)).not.toThrow();
  });
});

describe('parsing', () => {
  const keep = (value: unknown) => ({ value });
  const messageOf = (body: Uint8Array) => {
    const parsed = parseBody(body, keep);
    return 'faults' in parsed ? parsed.faults : parsed.value;
  };

  test('nesting of 100,000 levels is parsed, not fallen over', () => {
    expect(Array.isArray(messageOf(bytes('['.repeat(100_000) + ']'.repeat(100_000))))).toBe(true);
  });

  test('passes the parser’s own faults on', () => {
    const faults = [{ path: 'a', message: 'expected b' }];
    expect(parseBody(bytes('{}'), () => ({ faults }))).toEqual({ faults });
  });
});

describe('the client behind an address', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:c000:0201', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:1::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['2001:db8:1:2::192.0.2.1', '2001:db8:1:2::/64'],
    ['::1:2:3:192.0.2.1', '0:0:0:1::/64'],
    ['', 'unknown'],
    ['unix:', 'unknown'],
    ['192.0.2.256', 'unknown'],
    ['::ffff:192.0.2.256', 'unknown'],
    ['192.0.2.1:80', 'unknown'],
  ])('%j is %s', (address, client) => {
    expect(clientOfAddress(address)).toBe(client);
  });

  test('tells neighbours by network', () => {
    expect(clientOfAddress('2001:db8:1:2::1')).not.toBe(clientOfAddress('2001:db8:1:3::1'));
    expect(clientOfAddress('192.0.2.1')).not.toBe(clientOfAddress('192.0.2.2'));
  });
});

describe('the peer behind proxies', () => {
  const socket = '::ffff:10.0.0.1';
  test.each<[string | null, number, string]>([
    [null, 0, '10.0.0.1'],
    ['192.0.2.1', 0, '10.0.0.1'],
    [null, 1, '10.0.0.1'],
    ['192.0.2.1', 1, '192.0.2.1'],
    ['198.51.100.9, 192.0.2.1', 1, '192.0.2.1'],
    ['198.51.100.9, 192.0.2.1, 10.0.0.2', 2, '192.0.2.1'],
    ['198.51.100.9,192.0.2.1 ,\t10.0.0.2', 2, '192.0.2.1'],
    ['192.0.2.1', 2, '192.0.2.1'],
    ['2001:db8:1:2::1', 1, '2001:db8:1:2::/64'],
    ['192.0.2.1:51234', 1, '192.0.2.1'],
    ['[2001:db8:1:2::1]:443', 1, '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::1]', 1, '2001:db8:1:2::/64'],
    ['192.0.2.1:x', 1, '10.0.0.1'],
    ['[nonsense]:443', 1, '10.0.0.1'],
    ['', 1, '10.0.0.1'],
    ['unknown', 1, '10.0.0.1'],
    ['192.0.2.1, nonsense', 1, '10.0.0.1'],
    ['192.0.2.1,', 1, '10.0.0.1'],
  ])('X-Forwarded-For %j over %i trusted proxies is %s', (forwardedFor, hops, peer) => {
    expect(findPeer(socket, forwardedFor, hops)).toBe(peer);
  });

  test('is not moved by what the client writes further left', () => {
    const given = Array.from({ length: 50 }, (_, i) => `198.51.100.${i}`);
    const peers = given.map((address) => findPeer(socket, `${address}, 192.0.2.1`, 1));
    expect(new Set(peers)).toEqual(new Set(['192.0.2.1']));
  });
});
