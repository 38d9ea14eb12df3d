package docker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/jsonfile"
	"github.com/copse-dev/copse/internal/regular"
)

// engine is an engine's HTTP interface: the three required GET requests, and no other. The paths
// contain no version, so each engine answers with its own; the fields that this package reads are
// the same in all versions.
type engine struct {
	base   string // scheme and host of the requests
	client *http.Client
}

// The parts of the engine's answers that this package reads.
type (
	listed struct {
		ID     string `json:"Id"`
		Names  []string
		Image  string
		State  string
		Status string
		Labels map[string]string
		Mounts []mount
		Health *health
	}
	mount struct{ Source string }
	// health is the result of a container's health check.
	health    struct{ Status string }
	inspected struct {
		State *struct {
			Status     string
			ExitCode   int
			FinishedAt string
			Health     *health
		}
		Config *struct{ Tty bool }
	}
)

// status returns healthy, unhealthy or starting, "" without a health check.
func (h *health) status() string {
	if h == nil {
		return ""
	}
	switch h.Status {
	case "healthy", "unhealthy", "starting":
		return h.Status
	}
	return ""
}

const (
	// maxAnswer is the maximum number of bytes read from an answer, with at most maxValues values,
	// and maxLog from a log. A thousand containers have about 3 MB and 100,000 values.
	maxAnswer = 8 << 20
	maxValues = 300_000
	maxLog    = 64 << 10
	// dialing is the time limit of a connection attempt.
	dialing = 5 * time.Second
)

// dial returns the engine at a host in the form of $DOCKER_HOST: unix://path, npipe://path, or
// tcp://host:port. For tcp, certs is the directory with the client's certificate, "" for an
// unencrypted connection.
func dial(host, certs string) (*engine, error) {
	scheme, address, ok := strings.Cut(host, "://")
	if !ok {
		return nil, errors.New("it is not an address such as unix:///var/run/docker.sock or tcp://localhost:2375")
	}
	dialer := &net.Dialer{Timeout: dialing}
	transport := &http.Transport{MaxIdleConns: 4, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: time.Minute}
	e := &engine{base: "http://engine", client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}}
	switch scheme {
	case "unix":
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", address)
		}
	case "npipe":
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialPipe(ctx, filepath.FromSlash(address))
		}
	case "tcp", "http", "https":
		u, err := url.Parse("http://" + address)
		if err != nil || u.Host == "" {
			return nil, errors.New("its address cannot be read")
		}
		e.base = "http://" + u.Host
		if certs != "" || scheme == "https" {
			config, err := trust(certs)
			if err != nil {
				return nil, err
			}
			e.base, transport.TLSClientConfig = "https://"+u.Host, config
		}
	default:
		return nil, fmt.Errorf("%s:// is not supported; use unix://, npipe://, or tcp://", scheme)
	}
	return e, nil
}

// maxCertificate is the maximum size in bytes of a certificate file.
const maxCertificate = 4 << 20

// trust returns the TLS configuration of a directory with ca.pem, cert.pem, and key.pem, or the
// system's without a directory.
func trust(dir string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if dir == "" {
		return config, nil
	}
	ca, err := regular.Read(filepath.Join(dir, "ca.pem"), maxCertificate)
	if err != nil {
		return nil, errors.New("ca.pem in $DOCKER_CERT_PATH cannot be read")
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(ca) {
		return nil, errors.New("ca.pem in $DOCKER_CERT_PATH has no certificate")
	}
	cert, certErr := regular.Read(filepath.Join(dir, "cert.pem"), maxCertificate)
	key, keyErr := regular.Read(filepath.Join(dir, "key.pem"), maxCertificate)
	pair, err := tls.X509KeyPair(cert, key)
	if certErr != nil || keyErr != nil || err != nil {
		return nil, errors.New("cert.pem and key.pem in $DOCKER_CERT_PATH cannot be used")
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// list returns all containers.
func (e *engine) list(ctx context.Context) ([]listed, error) {
	var all []listed
	err := e.get(ctx, "/containers/json?all=true", &all)
	return all, err
}

// inspect returns one container.
func (e *engine) inspect(ctx context.Context, id string) (inspected, error) {
	var one inspected
	err := e.get(ctx, "/containers/"+url.PathEscape(id)+"/json", &one)
	return one, err
}

// get decodes the answer to a request.
func (e *engine) get(ctx context.Context, path string, into any) error {
	body, err := e.open(ctx, path)
	if err != nil {
		return err
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	if err != nil {
		return err
	}
	if jsonfile.Measure(data).Values > maxValues {
		return errors.New("the engine returned more values than copse reads")
	}
	return json.Unmarshal(data, into)
}

// open sends a request and returns the body of its answer.
func (e *engine) open(ctx context.Context, path string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+path, nil)
	if err != nil {
		return nil, err
	}
	res, err := e.client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return res.Body, nil
	}
	defer res.Body.Close()
	var refusal struct{ Message string }
	if res.StatusCode == http.StatusSwitchingProtocols { // its body is a connection that nothing ends
		return nil, errors.New("the engine switched to another protocol without a request for it")
	}
	if json.NewDecoder(io.LimitReader(res.Body, maxLog)).Decode(&refusal) != nil || refusal.Message == "" {
		refusal.Message = "HTTP " + strconv.Itoa(res.StatusCode)
	}
	return nil, errors.New(refusal.Message)
}

// logs returns the last output of a container: n lines, or the beginning of them if they exceed the
// limit.
func (e *engine) logs(ctx context.Context, id string, n int) (string, error) {
	one, err := e.inspect(ctx, id)
	if err != nil {
		return "", err
	}
	body, err := e.open(ctx, fmt.Sprintf("/containers/%s/logs?stdout=true&stderr=true&tail=%d", url.PathEscape(id), n))
	if err != nil {
		return "", err
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, maxLog))
	if err != nil {
		return "", err
	}
	text := string(data)
	if one.Config == nil || !one.Config.Tty {
		text = unframe(data)
	}
	if len(data) == maxLog {
		text += "…"
	}
	return text, nil
}

// unframe returns the text of a log in which standard output and standard error are
// mixed: frames with a header of eight bytes, the last four of them the length. The last
// frame can be cut.
func unframe(data []byte) string {
	const header = 8
	var text strings.Builder
	for len(data) >= header {
		length := binary.BigEndian.Uint32(data[4:header])
		data = data[header:]
		end := int(min(uint64(length), uint64(len(data))))
		text.Write(data[:end])
		data = data[end:]
	}
	return text.String()
}
