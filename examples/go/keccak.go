package main

import (
	"encoding/binary"
	"math/bits"
)

// Of the state's 200 bytes, those that take in data: 1600 bits less twice the 256 bits of the result.
const rateBytes = 136

var rotations = [5][5]int{{0, 36, 3, 41, 18}, {1, 44, 10, 45, 2}, {62, 6, 43, 15, 61}, {28, 55, 25, 21, 56}, {27, 20, 39, 8, 14}}

// roundConstants makes the 24 constants, from the linear feedback shift register that defines them.
func roundConstants() (constants [24]uint64) {
	register := 1
	for round := range constants {
		for exponent := 0; exponent < 7; exponent++ {
			if register&1 == 1 {
				constants[round] |= 1 << (1<<exponent - 1)
			}
			register <<= 1
			if register&0x100 != 0 {
				register ^= 0x171
			}
		}
	}
	return constants
}

// permute is Keccak-f[1600] on 5 × 5 lanes of 64 bits.
func permute(lanes *[5][5]uint64) {
	for _, constant := range roundConstants() {
		var parity [5]uint64
		for x := range parity {
			parity[x] = lanes[x][0] ^ lanes[x][1] ^ lanes[x][2] ^ lanes[x][3] ^ lanes[x][4]
		}
		var moved [5][5]uint64
		for x := range lanes {
			change := parity[(x+4)%5] ^ bits.RotateLeft64(parity[(x+1)%5], 1)
			for y := range lanes[x] {
				moved[y][(2*x+3*y)%5] = bits.RotateLeft64(lanes[x][y]^change, rotations[x][y])
			}
		}
		for x := range lanes {
			for y := range lanes[x] {
				lanes[x][y] = moved[x][y] ^ (^moved[(x+1)%5][y] & moved[(x+2)%5][y])
			}
		}
		lanes[0][0] ^= constant
	}
}

// keccak256 is the hash of Ethereum. SHA3-256 pads differently, so its results are other ones.
// See https://keccak.team/keccak_specs_summary.html.
func keccak256(parts ...[]byte) []byte {
	var data []byte
	for _, part := range parts {
		data = append(data, part...)
	}
	padding := make([]byte, rateBytes-len(data)%rateBytes)
	padding[0] ^= 0x01 // SHA-3 has 0x06 here.
	padding[len(padding)-1] ^= 0x80
	data = append(data, padding...)
	var lanes [5][5]uint64
	for ; len(data) > 0; data = data[rateBytes:] {
		for place := 0; place < rateBytes/8; place++ {
			lanes[place%5][place/5] ^= binary.LittleEndian.Uint64(data[8*place:])
		}
		permute(&lanes)
	}
	var hash []byte
	for place := 0; place < 4; place++ {
		hash = binary.LittleEndian.AppendUint64(hash, lanes[place%5][place/5])
	}
	return hash
}
