// A user signs a write and submits it; a relayer claims it: go run . -url http://127.0.0.1:8787
//
// Nothing here talks to a chain. A real relayer submits the request to the Forwarder between claim and report. This one
// reports the request failed in the end, so that it does not stay claimed. See docs/signing.md.
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// Keys 1 and 2 of the development mnemonic "test test … junk", known to everyone. Never use them for anything else.
const (
	developmentRelayer = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"
	developmentUser    = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a"
)

// Where `npm run devnet` puts the Forwarder, and its chain.
const (
	chainID   = 31337
	forwarder = "0x5FC8d32690cc91D4c39d9d3abcBD16989F875707"
)

func fromHex(text string) []byte {
	data, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil {
		fail(err)
	}
	return data
}

func toHex(data []byte) string { return "0x" + hex.EncodeToString(data) }

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// word pads an id, an address or a number with zeros on the left to 32 bytes.
func word(data []byte) []byte { return new(big.Int).SetBytes(data).FillBytes(make([]byte, 32)) }

func amount(decimal string) []byte {
	value, ok := new(big.Int).SetString(decimal, 10)
	if !ok {
		fail(fmt.Errorf("%q is no number", decimal))
	}
	return value.FillBytes(make([]byte, 32))
}

// typeHash is the first word of each struct of EIP-712.
func typeHash(encodedType string) []byte { return keccak256([]byte(encodedType)) }

func domainSeparator() []byte {
	return keccak256(
		typeHash("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
		keccak256([]byte("Forwarder")), keccak256([]byte("1")), amount(strconv.Itoa(chainID)), word(fromHex(forwarder)),
	)
}

// signWrite makes the params of a write by a user, who has a prism with the salt 1.
func signWrite(key []byte, nonce int) map[string]any {
	signer, dataID := addressOf(key), make([]byte, 32)
	if _, err := rand.Read(dataID); err != nil {
		fail(err)
	}
	cloudID := keccak256(word(fromHex(signer)), word([]byte{1}))
	payload := []byte("hello from Go")
	fee, timestamp := "10000000000000000", strconv.FormatInt(time.Now().Unix(), 10) // A hundredth of a credit, in base units.
	structHash := keccak256(
		typeHash("WriteData(bytes32 cloudId,bytes32 dataId,bytes payload,uint256 relayerFee,uint256 timestamp,uint256 nonce)"),
		cloudID, dataID, keccak256(payload), amount(fee), amount(timestamp), amount(strconv.Itoa(nonce)),
	)
	signature := sign(key, keccak256([]byte{0x19, 0x01}, domainSeparator(), structHash))
	return map[string]any{
		"cloudId": toHex(cloudID), "dataId": toHex(dataID), "payload": toHex(payload), "relayerFee": fee, "timestamp": timestamp,
		"signer": signer, "v": signature[64], "r": toHex(signature[:32]), "s": toHex(signature[32:64]),
	}
}

// signCall makes the three headers of one call. They are good for five minutes, and for this method, path and body alone.
func signCall(key []byte, method, path string, body []byte) map[string]string {
	timestamp := strconv.FormatInt(time.Now().UnixMilli(), 10)
	message := strings.Join([]string{
		"Service Relayer Auth", "Timestamp: " + timestamp, "Method: " + method, "Path: " + path, "Body: " + toHex(keccak256(body)),
	}, "\n")
	digest := keccak256([]byte(fmt.Sprintf("\x19Ethereum Signed Message:\n%d%s", len(message), message)))
	return map[string]string{
		"X-Relayer-Address": addressOf(key), "X-Relayer-Timestamp": timestamp, "X-Relayer-Signature": toHex(sign(key, digest)),
	}
}

// A record, or the gateway's reason why there is none.
type answer struct {
	RequestID, Status, ClaimedBy, ErrorMessage string
	Error, Code                                string
	Details                                    []struct{ Path, Message string }
}

type gateway struct{ url string }

// call makes a call and reads its JSON answer; anything but 2xx ends the program with the gateway's own sentence.
func (g gateway) call(method, path string, body any, headersOf func(body []byte) map[string]string) (read answer) {
	var sent []byte
	if body != nil {
		sent, _ = json.Marshal(body)
	}
	request, err := http.NewRequest(method, g.url+path, bytes.NewReader(sent))
	if err != nil {
		fail(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if headersOf != nil {
		for name, value := range headersOf(sent) {
			request.Header.Set(name, value)
		}
	}
	response, err := (&http.Client{Timeout: 30 * time.Second}).Do(request)
	if err != nil {
		fail(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	if err := json.Unmarshal(text, &read); err != nil {
		fail(fmt.Errorf("%d: %s", response.StatusCode, text))
	}
	if response.StatusCode/100 != 2 {
		fail(fmt.Errorf("%d %s: %s %v", response.StatusCode, read.Code, read.Error, read.Details))
	}
	return read
}

// update claims or reports a request as a relayer: the very bytes that are signed are sent.
func (g gateway) update(key []byte, requestID string, change map[string]string) answer {
	path := "/requests/" + requestID
	return g.call("PATCH", path, change, func(body []byte) map[string]string { return signCall(key, "PATCH", path, body) })
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func main() {
	url := flag.String("url", "http://127.0.0.1:8787", "the gateway")
	flag.Parse()
	user := fromHex(setting("USER_PRIVATE_KEY", developmentUser))
	relayer := fromHex(setting("RELAYER_PRIVATE_KEY", developmentRelayer))
	service := gateway{strings.TrimSuffix(*url, "/")}

	// An administrator does this once for each relayer.
	key := map[string]string{"X-Admin-Key": setting("ADMIN_API_KEY", "change-me-admin-key")}
	admin := func([]byte) map[string]string { return key }
	service.call("POST", "/admin/relayers", map[string]string{"address": addressOf(relayer)}, admin)

	// A real client reads the nonce from the Forwarder: nonces(signer).
	write := map[string]any{"chainName": fmt.Sprintf("eip155:%d", chainID), "action": "WRITE_DATA_FOR", "params": signWrite(user, 0)}
	record := service.call("POST", "/requests", write, nil)
	fmt.Printf("Submitted %s, which is %s.\n", record.RequestID, record.Status)

	record = service.update(relayer, record.RequestID, map[string]string{"status": "processing"})
	fmt.Printf("%s has claimed it: it is %s.\n", record.ClaimedBy, record.Status)

	why := "An example in Go, which submits nothing to a chain."
	service.update(relayer, record.RequestID, map[string]string{"status": "failed", "errorMessage": why})
	record = service.call("GET", "/requests/"+record.RequestID, nil, nil)
	fmt.Printf("It is %s in the end: %s\n", record.Status, record.ErrorMessage)
}
