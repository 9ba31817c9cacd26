package logline

import (
	"fmt"
	"slices"
	"strings"
)

// nginxRoles maps nginx variables
// (https://nginx.org/en/docs/http/ngx_http_log_module.html and the core and
// upstream modules).
var nginxRoles = map[string]Role{
	"request_time": RoleDuration, "session_time": RoleDuration, "upstream_response_time": RoleUpstream,
	"time_local": RoleTime, "time_iso8601": RoleTime, "msec": RoleTime,
	"remote_addr": RoleClient, "proxy_protocol_addr": RoleClient,
	"request_line": RoleRequest, "request_method": RoleMethod, "request_uri": RolePath, "uri": RolePath,
	"server_protocol": RoleProto, "body_bytes_sent": RoleBytes, "bytes_sent": RoleBytes,
	"upstream_cache_status": RoleCache, "connection_requests": roleReuse,
	"duration2": RoleDuration2, "duration3": RoleDuration3, // of presets alone
}

// parseNginx reads a log_format: the bare string, or the whole directive with
// its quoted pieces as it stands in nginx.conf.
func parseNginx(text string) (*Format, error) {
	body := text
	if s := strings.TrimSpace(text); strings.HasPrefix(s, "log_format") || strings.HasPrefix(s, "'") {
		body = joinQuoted(s)
	}
	f, err := New("nginx log_format", text, Seconds, NginxTokens(body))
	if err != nil {
		return nil, err
	}
	f.firstReuse = 1
	return f, nil
}

func NginxTokens(s string) []Token {
	var tokens tokenList
	for tokens.next(&s, "$") {
		var name string
		if strings.HasPrefix(s, "{") {
			name, s, _ = strings.Cut(s[1:], "}")
		} else {
			n := 0
			for n < len(s) && (s[n] == '_' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' || s[n] >= '0' && s[n] <= '9') {
				n++
			}
			name, s = s[:n], s[n:]
		}
		if name == "" {
			tokens.add(Token{Lit: "$"})
			continue
		}
		list := strings.HasPrefix(name, "upstream_") && name != "upstream_cache_status" ||
			name == "http_x_forwarded_for"
		tokens.add(Token{Role: max(nginxRoles[name], roleNamed(name)), Name: "$" + name, List: list,
			Pad: strings.HasPrefix(name, "padded_")})
	}
	return tokens
}

// joinQuoted joins the quoted pieces of a configuration directive.
func joinQuoted(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexAny(s, `'"`)
		if i < 0 {
			return b.String()
		}
		quote := s[i]
		s = s[i+1:]
		for len(s) > 0 && s[0] != quote {
			if s[0] == '\\' && len(s) > 1 {
				s = s[1:]
			}
			b.WriteByte(s[0])
			s = s[1:]
		}
		s = strings.TrimPrefix(s, string(quote))
	}
}

// parseApache reads a LogFormat string of Apache httpd
// (https://httpd.apache.org/docs/2.4/mod/mod_log_config.html), lighttpd's
// accesslog.format, varnishncsa -F, or the pattern of a Java server, which follow
// it; %D is in microseconds, which not all of them hold to.
func parseApache(text string) (*Format, error) {
	body := text
	if s := strings.TrimSpace(text); strings.HasPrefix(s, "LogFormat") || strings.HasPrefix(s, "CustomLog") ||
		strings.HasPrefix(s, `"%`) {
		body = joinQuoted(s)
	}
	body = strings.NewReplacer(`\"`, `"`, `\t`, "\t", `\\`, `\`).Replace(body)
	// https://logback.qos.ch/manual/layouts.html#AccessPatternLayout: arguments stand
	// behind the letters, %t has no brackets, and %D is in milliseconds.
	logback := strings.Contains(body, "%i{") || strings.Contains(body, "%t{")
	var tokens tokenList
	for tokens.next(&body, "%") {
		directive, rest := cutApache(body)
		if directive == "" {
			return nil, fmt.Errorf("%q ends inside a directive", text)
		}
		body = rest
		if logback && strings.HasPrefix(body, "{") {
			_, body, _ = strings.Cut(body, "}")
		}
		t := apacheToken(directive)
		brackets := directive == "t" && !logback
		if brackets {
			tokens.add(Token{Lit: "["})
		}
		tokens.add(t)
		if brackets {
			tokens.add(Token{Lit: "]"})
		}
	}
	unit := finestDuration(tokens)
	if unit == Microseconds && strings.Contains(text, "%D") {
		switch {
		case logback || strings.Contains(text, "%{i,") || strings.Contains(text, "%{o,"): // only Undertow has these
			unit = Milliseconds
		case hasName(tokens, "%F"): // only Tomcat has it: milliseconds before 10.1
			unit = UnitUnknown
		}
	}
	f, err := New("Apache LogFormat", text, unit, tokens)
	if err != nil {
		return nil, err
	}
	f.early = endedEarlyApache
	f.upstreamUnit = Seconds // %{Varnish:time_firstbyte}x
	return f, nil
}

// finestDuration leaves the duration role to the token of the finest unit only and
// returns that unit: %D is better than %T where a log has both.
func finestDuration(tokens []Token) Unit {
	best := new(Token)
	for i := range tokens {
		t := &tokens[i]
		if t.Role != RoleDuration {
			continue
		}
		if best.Role == RoleNone || t.unit > best.unit {
			best, t = t, best
		}
		t.Role = RoleNone
	}
	if best.unit == DecimalSeconds {
		return Seconds
	}
	return best.unit
}

// cutApache splits a directive without its %, as far as its final letter.
func cutApache(s string) (directive, rest string) {
	i := 0
	for i < len(s) && strings.IndexByte("<>!,0123456789", s[i]) >= 0 {
		i++
	}
	if i < len(s) && s[i] == '{' {
		j := strings.IndexByte(s[i:], '}')
		if j < 0 {
			return "", ""
		}
		if i += j + 1; i == len(s) || s[i] != '^' && (s[i]|0x20 < 'a' || s[i]|0x20 > 'z') {
			return s[:i], s[i:] // Undertow's %{i,Referer}
		}
	}
	if i < len(s) && s[i] == '^' { // %^FB, %^ti: two letters follow
		i += 2
	}
	if i >= len(s) {
		return "", ""
	}
	if hasPrefix([]byte(s[i:]), "Tf") && (len(s) == i+2 ||
		!IsName([]byte(s[i+2:i+3]))) { // aiohttp's seconds with a fraction
		return s[:i+1], s[i+2:]
	}
	return s[:i+1], s[i+1:]
}

// undertowUnits are the units of Undertow's request times
// (io.undertow.attribute.ResponseTimeAttribute).
var undertowUnits = map[string]Unit{"{RESPONSE_TIME}": Milliseconds, "{RESPONSE_TIME_MICROS}": Microseconds,
	"{RESPONSE_TIME_NANOS}": Nanoseconds}

var apacheRoles = map[byte]Role{
	'h': RoleClient, 'a': RoleClient, 'r': RoleRequest, 's': RoleStatus, 'b': RoleBytes, 'B': RoleBytes, 'O': RoleBytes,
	'D': RoleDuration, 'T': RoleDuration, 'M': RoleDuration, 'm': RoleMethod, 'U': RolePath, 'H': RoleProto,
	'k': roleReuse, 't': RoleTime, 'X': RoleEnd,
}

func apacheToken(directive string) Token {
	letter := directive[len(directive)-1]
	t := Token{Role: apacheRoles[letter], Name: "%" + directive}
	_, arg, _ := strings.Cut(directive, "{")
	arg, _, _ = strings.Cut(arg, "}")
	switch {
	case letter == '}':
		if t.unit = undertowUnits[directive]; t.unit != UnitUnknown {
			t.Role = RoleDuration
		}
	case letter == '%':
		return Token{Lit: "%"}
	case strings.Contains(directive, "^"):
		t.Role = RoleNone
	case letter == 'D':
		t.unit = Microseconds
	case letter == 'M': // Plug.AccessLog
		t.unit = Milliseconds
	case letter == 'T' && (arg == "" || arg == "fracsec"): // Tomcat's, in seconds, too
		t.unit = Seconds
	case letter == 'T':
		t.unit = UnitEndings[arg]
	case letter == 'x':
		t.Role, t.unit = xRoles[arg], DecimalSeconds
	case letter == 'a' && arg == "c", letter == 't' && strings.Contains(arg, "frac"):
		t.Role = RoleNone
	}
	return t
}

// xRoles are the times and marks that varnishncsa and H2O have under %{...}x.
var xRoles = map[string]Role{"Varnish:hitmiss": RoleCache, "Varnish:handling": RoleCache,
	"Varnish:time_firstbyte": RoleUpstream, "duration": RoleDuration, "total-time": RoleDuration}

// haproxyRoles maps HAProxy's log-format variables (configuration manual,
// section 8.2.6). Tt includes the idle time of a kept-alive connection, Tu does not;
// they stand in where Ta, the active time, is not logged.
var haproxyRoles = map[string]Role{
	"ci": RoleClient, "t": RoleTime, "tr": RoleTime, "trg": RoleTime, "T": RoleTime, "Tl": RoleTime, "Ts": RoleTime,
	"trl": RoleTime,
	"Ta":  RoleDuration, "Tr": RoleUpstream, "ST": RoleStatus, "B": RoleBytes, "r": RoleRequest,
	"HM": RoleMethod, "HP": RolePath, "HU": RolePath, "HPO": RolePath, "HV": RoleProto, "ts": RoleEnd, "tsc": RoleEnd,
}

// parseHAProxy reads a log-format string. The captured headers (%hr, %hs) are
// printed only when there are some, so they are taken as part of the variable
// before them.
func parseHAProxy(text string) (*Format, error) {
	body := strings.NewReplacer(`\ `, " ", `\"`, `"`).Replace(text)
	var tokens tokenList
	quoteAll := false
	for tokens.next(&body, "%") {
		flags, name, rest := cutHAProxy(body)
		body = rest
		switch name {
		case "":
			return nil, fmt.Errorf("%q has a %% without a variable", text)
		case "%":
			tokens.add(Token{Lit: "%"})
		case "o": // prints nothing; its flags are those of all that follow
			quoteAll = strings.Contains(flags, "+Q")
			body = strings.TrimLeft(body, " ")
		case "hr", "hs", "hrl", "hsl":
			tokens[len(tokens)-1].Lit = strings.TrimRight(tokens[len(tokens)-1].Lit, " ")
		default:
			quote, r := "", haproxyRoles[name]
			if strings.Contains(flags, "+Q") || quoteAll && !strings.Contains(flags, "-Q") && isText(r) {
				quote = `"`
			}
			tokens.add(Token{Lit: quote})
			tokens.add(Token{Role: r, Name: "%" + name})
			tokens.add(Token{Lit: quote})
		}
	}
	for _, name := range []string{"%Tu", "%Tt"} {
		for i := range tokens {
			if tokens[i].Name == name && !hasRole(tokens, RoleDuration) {
				tokens[i].Role = RoleDuration
			}
		}
	}
	return New("HAProxy log-format", text, Milliseconds, lenientEnd(tokens))
}

// isText reports whether HAProxy quotes the value where it is told to: numbers and
// times it does not.
func isText(r Role) bool {
	switch r {
	case RoleClient, RoleRequest, RoleMethod, RolePath, RoleProto, RoleEnd:
		return true
	}
	return false
}

func hasRole(tokens []Token, r Role) bool {
	return slices.ContainsFunc(tokens, func(t Token) bool { return t.Role == r })
}

func hasName(tokens []Token, name string) bool {
	return slices.ContainsFunc(tokens, func(t Token) bool { return t.Name == name })
}

// lenientEnd drops the quote after a request that ends the line: HAProxy cuts
// long lines, and the request loses its end but not its time.
func lenientEnd(tokens []Token) []Token {
	n := len(tokens)
	for n > 0 && tokens[n-1].Name == "" && strings.Trim(tokens[n-1].Lit, ` "`) == "" {
		n--
	}
	if n > 0 && tokens[n-1].Role == RoleRequest {
		return tokens[:n]
	}
	return tokens
}

func cutHAProxy(s string) (flags, name, rest string) {
	if strings.HasPrefix(s, "%") {
		return "", "%", s[1:]
	}
	if strings.HasPrefix(s, "{") {
		j := strings.IndexByte(s, '}')
		if j < 0 {
			return "", "", ""
		}
		flags, s = s[1:j], s[j+1:]
	}
	if strings.HasPrefix(s, "[") {
		j := strings.IndexByte(s, ']')
		if j < 0 {
			return "", "", ""
		}
		return flags, s[:j+1], s[j+1:]
	}
	n := 0
	for n < len(s) && s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' {
		n++
	}
	return flags, s[:n], s[n:]
}

// squidRoles maps Squid's logformat codes
// (http://www.squid-cache.org/Doc/config/logformat/).
var squidRoles = map[string]Role{
	"ts": RoleTime, "tl": RoleTime, "tg": RoleTime, "tr": RoleDuration, ">a": RoleClient, ">A": RoleClient,
	"Ss": RoleCache, ">Hs": RoleStatus, "Hs": RoleStatus, "<st": RoleBytes, "st": RoleBytes,
	"rm": RoleMethod, ">rm": RoleMethod, "ru": RolePath, ">ru": RolePath, "rp": RolePath, ">rp": RolePath,
	"rv": RoleProto, ">rv": RoleProto, "<tt": RoleUpstream,
}

func parseSquid(text string) (*Format, error) {
	var tokens tokenList
	for body := text; tokens.next(&body, "%"); {
		if strings.HasPrefix(body, "%") {
			tokens.add(Token{Lit: "%"})
			body = body[1:]
			continue
		}
		s := strings.TrimLeft(body, `"[#'/-`)
		n := 0
		for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '.') {
			n++
		}
		pad := n > 0 && s[0] != '0'
		s = s[n:]
		if strings.HasPrefix(s, "{") {
			_, s, _ = strings.Cut(s, "}")
		}
		space, code, ok := strings.Cut(s, "::")
		if ok = ok && IsName([]byte(space)); ok {
			s = code
		}
		n = 0
		for n < len(s) && (s[n] == '<' || s[n] == '>' || s[n] == '_' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
			n++
		}
		if n == 0 {
			return nil, fmt.Errorf("%q has a %% without a code", text)
		}
		r := squidRoles[s[:n]]
		if ok && space != "http" { // %icap::tr is not %tr
			r = RoleNone
		}
		tokens.add(Token{Role: r, Name: "%" + s[:n], Pad: pad})
		body = s[n:]
		if strings.HasPrefix(body, "{") { // an argument may stand behind its code, too
			_, body, _ = strings.Cut(body, "}")
		}
	}
	return New("Squid logformat", text, Milliseconds, tokens)
}

// envoyRoles maps Envoy's command operators
// (https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage).
var envoyRoles = map[string]Role{"START_TIME": RoleTime, "DURATION": RoleDuration, "RESPONSE_FLAGS": RoleEnd,
	"PROTOCOL": RoleProto, "RESPONSE_CODE": RoleStatus, "BYTES_SENT": RoleBytes, "DOWNSTREAM_REMOTE_ADDRESS": RoleClient,
	"DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT": RoleClient, "DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT": RoleClient}

func envoyRole(op string) Role {
	name, arg, _ := strings.Cut(op, "(")
	arg = strings.ToUpper(strings.TrimSuffix(arg, ")"))
	request := name == "REQ" || name == "REQ_WITHOUT_QUERY"
	switch {
	case request && arg == ":METHOD":
		return RoleMethod
	case request && strings.HasSuffix(arg, ":PATH"):
		return RolePath
	case name == "RESP" && arg == "X-ENVOY-UPSTREAM-SERVICE-TIME":
		return RoleUpstream
	}
	return envoyRoles[name]
}

func parseEnvoy(text string) (*Format, error) {
	var tokens tokenList
	for body := strings.TrimSuffix(text, `\n`); tokens.next(&body, "%"); {
		blank := strings.HasSuffix(tokens[len(tokens)-1].Lit, " ")
		end := strings.IndexByte(body, '%')
		if i := strings.IndexByte(body, '('); i >= 0 && i < end { // %START_TIME(%s.%3f)%
			end = strings.Index(body, ")%") + 1
		}
		if end <= 0 {
			return nil, fmt.Errorf("%q has an operator without its closing %%", text)
		}
		op := body[:end]
		body = body[end+1:]
		t := Token{Role: envoyRole(op), Name: "%" + op + "%"}
		// Only headers and dates of other forms may hold blanks.
		t.bare = blank && strings.HasPrefix(body, " ") && (t.Role != RoleNone || !strings.HasPrefix(op, "RE")) ||
			op == "START_TIME"
		tokens.add(t)
	}
	f, err := New("Envoy format", text, Milliseconds, tokens)
	if err == nil {
		f.early = endedEarlyEnvoy
	}
	return f, err
}
