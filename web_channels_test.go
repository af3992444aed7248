package main

import (
	"fmt"
	"net/http/cookiejar"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Two channels, each with its engine, over one store and one model: neither
// sees what is said on the other, and both go on after a start anew.
func TestTwoChannels(t *testing.T) {
	s := newServices(t)
	file := s.config(t.TempDir(), testKey)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(data, "web: {listen: '127.0.0.1:0', inspector: true}\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	for round := range 2 {
		log := &safeBuffer{}
		stop := process(file, log)
		link := ""
		for end := time.Now().Add(20 * time.Second); link == ""; time.Sleep(10 * time.Millisecond) {
			link = regexp.MustCompile(`http://\S+/owner\?code=\S+`).FindString(log.text())
			if time.Now().After(end) {
				t.Fatalf("no address:\n%s", log.text())
			}
		}
		p := openDemo(t, link, jar)
		onWeb, onTelegram := fmt.Sprintf("web question %d", round), fmt.Sprintf("telegram question %d", round)
		p.send(map[string]any{"type": "message", "client_msg_id": fmt.Sprint("m", round), "text": onWeb})
		s.say(round+1, onTelegram)
		asked := receive(t, s.asked) + "|" + receive(t, s.asked)
		if !strings.Contains(asked, onWeb) || !strings.Contains(asked, onTelegram) || strings.Count(asked, "question") != 2 {
			t.Errorf("the model was asked %q", asked)
		}
		if got := receive(t, s.shown); got != "echo "+onTelegram {
			t.Errorf("on Telegram %q", got)
		}
		answer := p.wait(func(f string) bool { return strings.Contains(f, "echo **"+onWeb) })
		if strings.Contains(answer, "telegram") {
			t.Errorf("on the web %s", answer)
		}
		p.socket.CloseNow()
		if code := stop(); code != 0 {
			t.Errorf("ended with %d", code)
		}
		logged := strings.ReplaceAll(log.text(), link, "")
		for _, secret := range []string{"question", "echo", link[strings.Index(link, "=")+1:]} {
			if strings.Contains(logged, secret) {
				t.Errorf("I8: the log holds %q", secret)
			}
		}
	}
}
