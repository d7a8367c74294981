#!/bin/sh
# libxml2.sh prepare RECORDS SEED | run BIN - a document parsed, checked, asked, formatted and transformed, by xmllint
# (BIN) and xsltproc
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	awk -v n="$2" -v seed="$3" -f "$here/weblog.awk" | awk '
		BEGIN { print "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE log [<!ELEMENT log (entry*)><!ELEMENT entry (host,request,note?)><!ATTLIST entry id ID #REQUIRED status CDATA #IMPLIED bytes CDATA \"0\"><!ELEMENT host (#PCDATA)><!ELEMENT request (#PCDATA)><!ATTLIST request verb NMTOKEN #REQUIRED><!ELEMENT note (#PCDATA)>]>\n<log>" }
		{ gsub(/&/, "\\&amp;"); gsub(/"/, ""); gsub(/</, "")
		  printf "  <entry id=\"e%d\" status=\"%d\" bytes=\"%d\">\n    <host>%s</host><request verb=\"%s\">%s</request>%s\n  </entry>\n", NR, $9, $10, $1, $6, $7, NR % 3 ? "" : "<note><![CDATA[" $NF " < " $(NF - 1) "]]></note>" }
		END { print "</log>" }' >log.xml
	cat >log.rng <<-'END'
	<grammar xmlns="http://relaxng.org/ns/structure/1.0" datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes"><start><element name="log"><zeroOrMore><element name="entry"><attribute name="id"><data type="ID"/></attribute><attribute name="status"><data type="integer"/></attribute><attribute name="bytes"><data type="integer"/></attribute><element name="host"><text/></element><element name="request"><attribute name="verb"><choice><value>GET</value><value>POST</value><value>HEAD</value><value>PUT</value></choice></attribute><text/></element><optional><element name="note"><text/></element></optional></element></zeroOrMore></element></start></grammar>
	END
	cat >log.xsl <<-'END'
	<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:output method="html" indent="yes"/><xsl:key name="h" match="entry" use="host"/>
	<xsl:template match="/log"><html><body><table><xsl:for-each select="entry[generate-id() = generate-id(key('h', host)[1])]"><xsl:sort select="count(key('h', host))" data-type="number" order="descending"/><tr class="r{position() mod 2}"><td><xsl:value-of select="host"/></td><td><xsl:value-of select="count(key('h', host))"/></td><td><xsl:value-of select="format-number(sum(key('h', host)/@bytes), '#,##0')"/></td></tr></xsl:for-each></table><xsl:apply-templates select="entry[@status &gt;= 400]"/></body></html></xsl:template>
	<xsl:template match="entry"><p id="{@id}"><xsl:choose><xsl:when test="contains(request, '?')"><b><xsl:value-of select="substring-before(request, '?')"/></b></xsl:when><xsl:otherwise><xsl:value-of select="translate(request, 'aeiou', 'AEIOU')"/></xsl:otherwise></xsl:choose><xsl:if test="note"><i><xsl:value-of select="normalize-space(note)"/></i></xsl:if></p></xsl:template></xsl:stylesheet>
	END
	;;
run)
	"$2" --noout --valid log.xml; echo "$?"
	"$2" --noout --relaxng log.rng log.xml 2>&1
	"$2" --format log.xml | cksum; "$2" --c14n log.xml | cksum; "$2" --noout --stream log.xml; echo "$?"
	"$2" --xpath 'count(//entry[@status="404"][contains(request, "html")])' log.xml
	"$2" --xpath 'sum(//entry[host = /log/entry[7]/host]/@bytes)' log.xml
	"$2" --html --nodefdtd log.xml 2>/dev/null | cksum
	xsltproc log.xsl log.xml | cksum ;;
esac
