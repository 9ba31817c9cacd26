// Package switchport asks the SNMP agent of a switch for what one of its ports
// counts: IF-MIB (RFC 2863), EtherLike-MIB (RFC 3635), and LLDP-MIB (IEEE 802.1AB),
// which knows the port that this machine is at.
package switchport

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/gosnmp/gosnmp"

	"github.com/wirerate/wirerate/internal/input"
)

// Agent is where a switch answers, and the port that is asked for.
type Agent struct {
	Host      string
	Port      uint16
	Name      string // ifName; empty for the one that LLDP knows this machine at
	community string
}

// ErrAgent is wrapped for texts that name no agent.
var ErrAgent = errors.New("snmp://[COMMUNITY@]HOST[:PORT]/[IFNAME|lldp] is expected")

// ParseAgent reads snmp://[COMMUNITY@]HOST[:PORT]/[IFNAME|lldp]. Errors do not show
// what may be secret.
func ParseAgent(text string) (Agent, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "snmp" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" || len(text) > 512 {
		return Agent{}, fmt.Errorf("switch: %w", ErrAgent)
	}
	a := Agent{Host: u.Hostname(), Port: 161, Name: strings.TrimPrefix(u.Path, "/")}
	if strings.ContainsFunc(a.Host, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return Agent{}, fmt.Errorf("switch: %w", ErrAgent)
	}
	if a.Name == "lldp" {
		a.Name = ""
	}
	if u.Port() != "" {
		n, err := strconv.ParseUint(u.Port(), 10, 16)
		if err != nil || n == 0 {
			return Agent{}, fmt.Errorf("switch %s: port %q; %w", a.Host, u.Port(), ErrAgent)
		}
		a.Port = uint16(n)
	}
	if u.User != nil {
		if _, secret := u.User.Password(); secret {
			return Agent{}, fmt.Errorf("switch %s: users and passphrases of SNMPv3 belong into the file of --switch-auth",
				a.Host)
		}
		a.community = u.User.Username()
	}
	return a, nil
}

// String is the agent without its secrets.
func (a Agent) String() string {
	if a.Port == 161 {
		return a.Host
	}
	return net.JoinHostPort(a.Host, strconv.Itoa(int(a.Port)))
}

// Auth is what the file of --switch-auth says: a community of SNMPv2c, or a user of
// SNMPv3 with the protocols and passphrases that it has.
type Auth struct {
	Community      string `yaml:"community"`
	User           string `yaml:"user"`
	Auth           string `yaml:"auth"` // sha512, sha384, sha256, sha224, sha, md5
	AuthPassphrase string `yaml:"auth_passphrase"`
	Priv           string `yaml:"priv"` // aes256, aes192, aes, des
	PrivPassphrase string `yaml:"priv_passphrase"`
}

// ReadAuth reads the file of --switch-auth, which others must not be able to read.
func ReadAuth(name string) (Auth, error) {
	info, err := os.Stat(name)
	if err != nil {
		return Auth{}, err
	}
	if info.Mode().IsRegular() && info.Mode()&0o007 != 0 {
		return Auth{}, fmt.Errorf("%s: anybody can read it; chmod 600 first", name)
	}
	data, err := input.File(name, 64<<10)
	if err != nil {
		return Auth{}, err
	}
	var a Auth
	if err := yaml.UnmarshalWithOptions(data, &a, yaml.Strict()); err != nil {
		// The library's text shows the lines around the mistake, which may be secret.
		return Auth{}, fmt.Errorf("%s: community, or user, auth, auth_passphrase, priv and priv_passphrase are expected, "+
			"each as KEY: VALUE", name)
	}
	return a, a.check(name)
}

func (a Auth) check(name string) error {
	switch {
	case (a.Community == "") == (a.User == ""):
		return fmt.Errorf("%s: a community or a user is expected, and not both", name)
	case a.User == "" && (a.Auth != "" || a.Priv != ""):
		return fmt.Errorf("%s: auth and priv belong to a user of SNMPv3", name)
	case authProtocol(a.Auth) == 0:
		return fmt.Errorf("%s: auth %q: one of sha512, sha384, sha256, sha224, sha, md5 is expected", name, a.Auth)
	case privProtocol(a.Priv) == 0:
		return fmt.Errorf("%s: priv %q: one of aes256, aes192, aes, des is expected", name, a.Priv)
	case a.Auth != "" && len(a.AuthPassphrase) < 8, a.Priv != "" && len(a.PrivPassphrase) < 8: // RFC 3414, 11.2
		return fmt.Errorf("%s: a passphrase has 8 characters at least", name)
	case a.Priv != "" && a.Auth == "":
		return fmt.Errorf("%s: priv needs auth", name)
	}
	return nil
}

func authProtocol(name string) gosnmp.SnmpV3AuthProtocol {
	return map[string]gosnmp.SnmpV3AuthProtocol{"": gosnmp.NoAuth, "md5": gosnmp.MD5, "sha": gosnmp.SHA,
		"sha224": gosnmp.SHA224,
		"sha256": gosnmp.SHA256, "sha384": gosnmp.SHA384, "sha512": gosnmp.SHA512}[strings.ToLower(name)]
}

func privProtocol(name string) gosnmp.SnmpV3PrivProtocol {
	return map[string]gosnmp.SnmpV3PrivProtocol{"": gosnmp.NoPriv, "des": gosnmp.DES, "aes": gosnmp.AES,
		"aes192": gosnmp.AES192,
		"aes256": gosnmp.AES256}[strings.ToLower(name)]
}

// client is one that asks the agent.
func (a Agent) client(auth Auth) *gosnmp.GoSNMP {
	c := &gosnmp.GoSNMP{Target: a.Host, Port: a.Port, Version: gosnmp.Version2c, Community: "public", Timeout: patience,
		Retries: 1, MaxOids: gosnmp.MaxOids, MaxRepetitions: 25}
	switch {
	case a.community != "":
		c.Community = a.community
	case auth.User == "" && auth.Community != "":
		c.Community = auth.Community
	case auth.User != "":
		c.Version, c.SecurityModel, c.MsgFlags = gosnmp.Version3, gosnmp.UserSecurityModel, gosnmp.NoAuthNoPriv
		if auth.Auth != "" {
			c.MsgFlags = gosnmp.AuthNoPriv
		}
		if auth.Priv != "" {
			c.MsgFlags = gosnmp.AuthPriv
		}
		c.SecurityParameters = &gosnmp.UsmSecurityParameters{UserName: auth.User,
			AuthenticationProtocol: authProtocol(auth.Auth), AuthenticationPassphrase: auth.AuthPassphrase,
			PrivacyProtocol: privProtocol(auth.Priv), PrivacyPassphrase: auth.PrivPassphrase}
	}
	return c
}
