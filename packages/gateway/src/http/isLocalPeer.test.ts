import { expect, test } from 'vitest';
import { isLocalPeer } from './isLocalPeer.ts';
import { clientOfAddress } from './request.ts';

test.each(['127.0.0.1', '::1', '10.1.2.3', '172.31.0.9', '192.168.1.1', 'fe80::1', 'fd00::5', '::ffff:10.0.0.1'])(
  '%s is local',
  (address) => {
    expect(isLocalPeer(clientOfAddress(address))).toBe(true);
  },
);

test.each(['8.8.8.8', '172.32.0.1', '11.0.0.1', '2001:db8::1', '::ffff:8.8.8.8', '1::1', 'no address'])(
  '%s is not',
  (address) => {
    expect(isLocalPeer(clientOfAddress(address))).toBe(false);
  },
);
