import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { parseTransaction, type TransactionSerializableEIP1559, verifyMessage } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { openAccount } from './openAccount.ts';

/** The test vectors of the definition; both hold the same key. @see https://ethereum.org/developers/docs/data-structures-and-encoding/web3-secret-storage */
const PASSWORD = 'testpassword';
const ADDRESS = '0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b';
const PRIVATE_KEY = '7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d';
const SCRYPT = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
    ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
    kdf: 'scrypt',
    kdfparams: {
      dklen: 32,
      n: 262144,
      p: 8,
      r: 1,
      salt: 'ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19',
    },
    mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
};
const PBKDF2 = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
};

/** Of geth's own tests, with an empty password. */
const VERY_LIGHT = {
  address: '45dea0fb0bba44f4fcf290bba71fd57d7117cbb8',
  crypto: {
    cipher: 'aes-128-ctr',
    ciphertext: 'b87781948a1befd247bff51ef4063f716cf6c2d3481163e9a8f42e1f9bb74145',
    cipherparams: { iv: 'dc4926b48a105133d2f16b96833abf1e' },
    kdf: 'scrypt',
    kdfparams: {
      dklen: 32,
      n: 2,
      p: 1,
      r: 8,
      salt: '004244bbdc51cadda545b1cfa43cff9ed2ae88e08c61f1479dbb45410722f8f0',
    },
    mac: '39990c1684557447940d4c69e06b1b82b2aceacb43f284df65c956daf3046b85',
  },
  id: 'ce541d8d-c79b-40f8-9f8c-20f59616faba',
  version: 3,
};

const open = (keystore: unknown, keystorePassword = PASSWORD) =>
  openAccount({ keystore: JSON.stringify(keystore), keystorePassword });

describe('a private key', () => {
  test.each([PRIVATE_KEY, `0x${PRIVATE_KEY}`, `0x${PRIVATE_KEY.toUpperCase()}\n`])(
    'is read as %j',
    async (privateKey) => {
      expect((await openAccount({ privateKey })).address).toBe(ADDRESS);
    },
  );

  test.each(['', '0x12', PRIVATE_KEY.slice(1), `${PRIVATE_KEY}00`, '0'.repeat(64), 'f'.repeat(64), 'z'.repeat(64)])(
    'like %j is refused without being named',
    async (privateKey) => {
      const error = await openAccount({ privateKey }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'INVALID_ARGUMENT' });
      if (privateKey !== '') expect(`${error}`).not.toContain(privateKey);
    },
  );
});

describe('a keystore', () => {
  test.each([
    ['scrypt', SCRYPT],
    ['pbkdf2', PBKDF2],
  ])('of %s opens with its password, from a file', async (_, keystore) => {
    const dir = await mkdtemp(join(tmpdir(), 'keystore-'));
    try {
      await writeFile(join(dir, 'key.json'), JSON.stringify(keystore));
      const account = await openAccount({ keystore: join(dir, 'key.json'), keystorePassword: PASSWORD });
      expect(account.address).toBe(ADDRESS);
    } finally {
      await rm(dir, { recursive: true });
    }
  });

  test('of geth opens', async () => {
    expect((await open(VERY_LIGHT, '')).address.toLowerCase()).toBe(`0x${VERY_LIGHT.address}`);
  });

  test('does not open with another password, nor when it was altered', async () => {
    await expect(open(PBKDF2, 'Testpassword')).rejects.toMatchObject({ code: 'KEYSTORE_PASSWORD_WRONG' });
    const ciphertext = PBKDF2.crypto.ciphertext.replace('5318', '5319');
    const altered = { ...PBKDF2, crypto: { ...PBKDF2.crypto, ciphertext } };
    await expect(open(altered)).rejects.toMatchObject({ code: 'KEYSTORE_PASSWORD_WRONG' });
  });

  test.each([
    ['no object', 7],
    ['another version', { ...SCRYPT, version: 4 }],
    ['another cipher', { ...SCRYPT, crypto: { ...SCRYPT.crypto, cipher: 'aes-128-cbc' } }],
    ['another derivation', { ...SCRYPT, crypto: { ...SCRYPT.crypto, kdf: 'argon2' } }],
    [
      'a derivation without end',
      { ...SCRYPT, crypto: { ...SCRYPT.crypto, kdfparams: { ...SCRYPT.crypto.kdfparams, n: 2 ** 40 } } },
    ],
    ['an iv that is too short', { ...SCRYPT, crypto: { ...SCRYPT.crypto, cipherparams: { iv: '83' } } }],
    ['no crypto', { version: 3 }],
  ])('that is %s is refused', async (_, keystore) => {
    await expect(open(keystore)).rejects.toMatchObject({ code: expect.stringMatching(/KEYSTORE_INVALID/) });
  });

  test('needs a password, a file that is there, and no private key beside it', async () => {
    await expect(openAccount({ keystore: '{}' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(openAccount({ keystore: '{}', privateKey: PRIVATE_KEY })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
    await expect(openAccount({})).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    const missing = openAccount({ keystore: join(tmpdir(), 'no-such-keystore.json'), keystorePassword: PASSWORD });
    await expect(missing).rejects.toMatchObject({ code: 'KEYSTORE_INVALID' });
  });
});

test('it signs the same bytes as viem does', async () => {
  const reference = privateKeyToAccount(`0x${PRIVATE_KEY}`);
  const account = await openAccount({ privateKey: PRIVATE_KEY });
  for (let index = 0; index < 20; index += 1) {
    const message = index % 2 === 0 ? `Service Relayer Auth ${index}` : { raw: new Uint8Array(index).fill(index) };
    const signature = await account.signMessage({ message });
    expect(signature).toBe(await reference.signMessage({ message }));
    expect(await verifyMessage({ address: reference.address, message, signature })).toBe(true);
    const transaction: TransactionSerializableEIP1559 = {
      type: 'eip1559',
      chainId: 31_337,
      nonce: index,
      to: reference.address,
      data: '0xabcd',
      value: 0n,
      gas: 21_000n,
      maxFeePerGas: 5n,
      maxPriorityFeePerGas: 1n,
    };
    const raw = await account.signTransaction(transaction);
    expect(raw).toBe(await reference.signTransaction(transaction));
    expect(parseTransaction(raw).nonce ?? 0).toBe(index);
  }
});

test('shows its key to nobody who prints it', async () => {
  const account = await openAccount({ privateKey: PRIVATE_KEY });
  expect(inspect(account, { depth: 9, showHidden: true })).not.toContain(PRIVATE_KEY);
  expect(JSON.stringify(account)).not.toContain(PRIVATE_KEY);
});
