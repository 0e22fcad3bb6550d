package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"strings"
)

func number(digits string) *big.Int {
	value, _ := new(big.Int).SetString(digits, 16)
	return value
}

var (
	prime = number("fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f")
	order = number("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")
	base  = &point{
		number("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"),
		number("483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"),
	}
)

// A point of the curve; nil is the point at infinity.
type point struct{ x, y *big.Int }

func mod(value *big.Int) *big.Int { return value.Mod(value, prime) }

func add(one, other *point) *point {
	if one == nil {
		return other
	}
	if other == nil {
		return one
	}
	rise, run := new(big.Int).Sub(other.y, one.y), new(big.Int).Sub(other.x, one.x)
	if run.Sign() == 0 {
		if one.y.Cmp(other.y) != 0 {
			return nil
		}
		// The tangent: 3x² / 2y.
		rise.Mul(one.x, one.x).Mul(rise, big.NewInt(3))
		run.Lsh(one.y, 1)
	}
	slope := mod(rise.Mul(rise, new(big.Int).ModInverse(mod(run), prime)))
	x := new(big.Int).Mul(slope, slope)
	x = mod(x.Sub(x, one.x).Sub(x, other.x))
	y := new(big.Int).Sub(one.x, x)
	return &point{x, mod(y.Mul(y, slope).Sub(y, one.y))}
}

func multiply(scalar *big.Int, power *point) (total *point) {
	for bit := 0; bit < scalar.BitLen(); bit++ {
		if scalar.Bit(bit) == 1 {
			total = add(total, power)
		}
		power = add(power, power)
	}
	return total
}

// addressOf is the last 20 bytes of the hash of the public key, with the checksum of EIP-55 in its letters' case.
func addressOf(privateKey []byte) string {
	public := multiply(new(big.Int).SetBytes(privateKey), base)
	digits := hex.EncodeToString(keccak256(public.x.FillBytes(make([]byte, 32)), public.y.FillBytes(make([]byte, 32)))[12:])
	marks := hex.EncodeToString(keccak256([]byte(digits)))
	var address strings.Builder
	for i, digit := range digits {
		if marks[i] > '7' {
			address.WriteString(strings.ToUpper(string(digit)))
		} else {
			address.WriteRune(digit)
		}
	}
	return "0x" + address.String()
}

func hash(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// sign makes a signature of 65 bytes, r, s and v (27 or 28), of a digest of 32 bytes: deterministic (RFC 6979), with a low s.
// This is clear rather than fast, and its timing depends on the key. Use a maintained library for keys that hold value.
func sign(privateKey, digest []byte) []byte {
	secret, message := new(big.Int).SetBytes(privateKey), new(big.Int).SetBytes(digest)
	reduced := new(big.Int).Mod(message, order).FillBytes(make([]byte, 32))
	key, value := make([]byte, 32), make([]byte, 32)
	for i := range value {
		value[i] = 1
	}
	for _, separator := range []byte{0, 1} {
		key = hash(key, value, []byte{separator}, privateKey, reduced)
		value = hash(key, value)
	}
	for {
		value = hash(key, value)
		nonce := new(big.Int).SetBytes(value)
		if nonce.Sign() > 0 && nonce.Cmp(order) < 0 {
			place := multiply(nonce, base)
			r := new(big.Int).Mod(place.x, order)
			s := new(big.Int).Mul(r, secret)
			s.Add(s, message).Mul(s, new(big.Int).ModInverse(nonce, order)).Mod(s, order)
			if r.Sign() > 0 && s.Sign() > 0 {
				odd := byte(place.y.Bit(0))
				// Of the two that are good, the low one: high ones are refused everywhere.
				if s.Cmp(new(big.Int).Rsh(order, 1)) > 0 {
					s.Sub(order, s)
					odd ^= 1
				}
				signature := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
				return append(signature, 27+odd)
			}
		}
		key = hash(key, value, []byte{0})
		value = hash(key, value)
	}
}
